import { randomBytes } from 'node:crypto';
import { chmod, chown, lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WhizbangError } from '../errors.js';
import type { Identity } from './identity.js';
import { stopOrphan } from './orphan.js';
import { isOwnerAlive, ownerToken } from './owner.js';

/**
 * The folder below a temporary one where a user's binaries, template and temporary data live:
 *   cache/<name>/content   made once, shared by all later starts
 *   run/<owner>-<random>   belongs to one process and is swept when that process is gone
 */
export interface Workspace {
  readonly cache: string;
  readonly run: string;
}

export async function openWorkspace(parent: string): Promise<Workspace> {
  const uid = process.getuid?.() ?? -1;
  const root = join(parent, `whizbang-postgres-${uid}`);
  await mkdir(root, { recursive: true, mode: 0o700 });
  const found = await lstat(root);
  // In a shared /tmp, another user could have put programs here for us to run.
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o022) !== 0) {
    throw new WhizbangError('EMBEDDED_START_FAILED', {
      message: `${root} is not a folder that only user ${uid} can write to.`,
      hint: 'Remove it, or set TMPDIR or the option tempDir to a folder of your own.',
      details: { path: root, owner: found.uid, mode: found.mode.toString(8) },
    });
  }
  const workspace = { cache: join(root, 'cache'), run: join(root, 'run') };
  await mkdir(workspace.cache, { recursive: true });
  await mkdir(workspace.run, { recursive: true });
  // The server's user must be able to enter, whatever the caller's umask is.
  for (const path of [root, workspace.cache, workspace.run]) await chmod(path, 0o755);
  return workspace;
}

/** A new folder that belongs to this process and that the server's user can write to. */
export async function newRunFolder(workspace: Workspace, identity: Identity): Promise<string> {
  const path = join(workspace.run, `${ownerToken()}-${randomBytes(6).toString('hex')}`);
  await mkdir(path, { mode: 0o700 });
  if (identity.spawn.uid !== undefined) await chown(path, identity.uid, identity.gid);
  return path;
}

/** Removes what dead processes left behind, after stopping the servers that still run in it. */
export async function sweep(workspace: Workspace): Promise<void> {
  // A folder that cannot be removed must not prevent the start. The next start tries again.
  await Promise.allSettled(
    (await readdir(workspace.run)).map(async (name) => {
      if (isOwnerAlive(name.split('-')[0] ?? '')) return;
      const path = join(workspace.run, name);
      await stopOrphan(path);
      await rm(path, { recursive: true, force: true });
    }),
  );
}

/**
 * A folder that is made once and then shared. `make` fills `content` in a folder of our own, which is then
 * renamed. So a reader finds all of it or nothing, and when several processes make it at once the first one
 * wins.
 */
export async function cachedFolder(
  workspace: Workspace,
  name: string,
  identity: Identity,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const path = join(workspace.cache, name);
  if (await isComplete(path)) return path;
  const made = await newRunFolder(workspace, identity);
  const discarded = await newRunFolder(workspace, identity);
  try {
    await make(made);
    await writeFile(join(made, 'entries'), String(await countEntries(made)));
    if (!(await isComplete(path))) await rename(path, join(discarded, 'incomplete')).catch(() => undefined);
    await rename(made, path).catch(async (error: unknown) => {
      if (!(await isComplete(path))) throw error;
    });
    return path;
  } finally {
    await rm(made, { recursive: true, force: true });
    await rm(discarded, { recursive: true, force: true });
  }
}

/**
 * Whether the cached folder has all its files. Systems delete temporary files that were not read for days.
 */
async function isComplete(path: string): Promise<boolean> {
  const expected = await readFile(join(path, 'entries'), 'utf8').catch(() => undefined);
  return expected !== undefined && Number(expected) === (await countEntries(path));
}

async function countEntries(path: string): Promise<number> {
  return (await readdir(join(path, 'content'), { recursive: true }).catch(() => [])).length;
}
