import { chown, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { WhizbangError } from '../errors.js';
import type { Binaries } from './binaries.js';
import { type Identity, runAs } from './identity.js';
import { stopOrphan } from './orphan.js';
import { isOwnerAlive, ownerToken } from './owner.js';
import { initialiseDataDir } from './template.js';
import { newRunFolder, type Workspace } from './workspace.js';

export interface DataDir {
  readonly path: string;
  readonly isTemporary: boolean;
  /** Releases the folder: a temporary one is removed, a kept one may be started by another process. */
  release(): Promise<void>;
}

const ownerFile = 'whizbang.owner';

export async function temporaryDataDir(
  place: Workspace,
  binaries: Binaries,
  workspace: Workspace,
  identity: Identity,
): Promise<DataDir> {
  const path = await newRunFolder(place, identity);
  await initialiseDataDir(path, binaries, workspace, identity);
  return { path, isTemporary: true, release: () => rm(path, { recursive: true, force: true }) };
}

/** Opens a folder that is kept: claims it, stops a server that a dead process left in it, fills it when it is new. */
export async function keptDataDir(
  path: string,
  binaries: Binaries,
  workspace: Workspace,
  identity: Identity,
): Promise<DataDir> {
  await mkdir(dirname(path), { recursive: true });
  await mkdir(path, { recursive: true, mode: 0o700 });
  const version = await readVersion(path);
  if (version === undefined) await assertEmpty(path);
  else if (version !== String(binaries.major)) {
    throw failed(
      path,
      `holds data of PostgreSQL ${version}, and the programs are PostgreSQL ${binaries.version}`,
    );
  }
  await claim(path);
  const release = () => rm(join(path, ownerFile), { force: true });
  try {
    await stopOrphan(path);
    if (identity.spawn.uid !== undefined) {
      if (version === undefined) await chown(path, identity.uid, identity.gid);
      await assertReachable(path, identity);
    }
    if (version === undefined) await initialiseDataDir(path, binaries, workspace, identity);
    return { path, isTemporary: false, release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Claims the folder. It belongs to the process named in the owner file while that process lives. */
async function claim(path: string): Promise<void> {
  const file = join(path, ownerFile);
  const owner = await readFile(file, 'utf8').catch(() => undefined);
  if (owner !== undefined && !isOwnerAlive(owner)) await rm(file, { force: true });
  await writeFile(file, ownerToken(), { flag: 'wx' }).catch((cause: unknown) => {
    const pid = owner?.split('.')[0] ?? 'unknown';
    throw failed(
      path,
      `is in use by process ${pid}`,
      'Connect to the server of that process, or stop it.',
      cause,
    );
  });
}

async function readVersion(path: string): Promise<string | undefined> {
  return (await readFile(join(path, 'PG_VERSION'), 'utf8').catch(() => undefined))?.trim();
}

/**
 * Fails unless the folder is empty. An owner file without a version is an interrupted start: the files are
 * ours and incomplete.
 */
async function assertEmpty(path: string): Promise<void> {
  const names = await readdir(path);
  if (names.length > 0 && !names.includes(ownerFile)) {
    throw failed(
      path,
      'is not empty and not a PostgreSQL data directory',
      'Choose an empty or a new folder.',
    );
  }
}

async function assertReachable(path: string, identity: Identity): Promise<void> {
  await runAs(identity, 'sh', ['-c', 'cd "$1"', 'sh', path]).catch((cause: unknown) => {
    const hint = 'As root, the server runs as an unprivileged user. Choose a folder that it may enter.';
    throw failed(path, `cannot be entered by user ${identity.uid}`, hint, cause);
  });
}

function failed(path: string, fact: string, hint?: string, cause?: unknown): WhizbangError {
  return new WhizbangError('EMBEDDED_START_FAILED', {
    message: `The data directory ${path} ${fact}.`,
    ...(hint === undefined ? {} : { hint }),
    details: { dataDir: path },
    cause,
  });
}
