import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { WhizbangError } from '../errors.js';

/** The user that the server runs as. `spawn` holds what a child process needs to become that user. */
export interface Identity {
  readonly uid: number;
  readonly gid: number;
  readonly spawn: { readonly uid?: number; readonly gid?: number };
}

/** The user `nobody`: PostgreSQL refuses to run as root. */
const unprivileged = 65_534;

export function ourselves(): Identity {
  return { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1, spawn: {} };
}

/** The current user. As root: the owner of the data directory, or `nobody` when that is root or unknown. */
export async function serverIdentity(dataDir: string | undefined): Promise<Identity> {
  if (process.getuid?.() !== 0) return ourselves();
  const owner = dataDir === undefined ? undefined : await stat(dataDir).catch(() => undefined);
  const chosen =
    owner === undefined || owner.uid === 0
      ? { uid: unprivileged, gid: unprivileged }
      : { uid: owner.uid, gid: owner.gid };
  return { ...chosen, spawn: chosen };
}

const runFile = promisify(execFile);

/** Runs a program to its end as that user and returns what it printed. */
export async function runAs(identity: Identity, command: string, args: readonly string[]): Promise<string> {
  try {
    // The server's user may not be able to enter the caller's folder; every user can enter the root folder.
    const { stdout } = await runFile(command, args, {
      ...identity.spawn,
      cwd: '/',
      env: serverEnvironment(),
    });
    return stdout;
  } catch (cause) {
    const output = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : '';
    throw new WhizbangError('EMBEDDED_START_FAILED', {
      message: `${command} failed as user ${identity.uid}: ${output || String(cause)}`,
      details: { command, args, output },
      cause,
    });
  }
}

/** The environment of the server. A fixed locale and time zone make every new data directory the same. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
}
