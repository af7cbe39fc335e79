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

/** `nobody`: PostgreSQL refuses to run as root. */
const unprivileged = 65_534;

export function ourselves(): Identity {
  return { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1, spawn: {} };
}

/** Ourselves; as root, the owner of the data directory, or `nobody` when it has no owner yet but root. */
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
    // The folder of the caller may be closed to the server's user; the root folder is open to everybody.
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

/** A fixed locale and time zone, so that a data directory is the same whoever makes it. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
}
