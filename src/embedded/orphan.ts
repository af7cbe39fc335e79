import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WhizbangError } from '../errors.js';
import { ourselves, runAs } from './identity.js';
import { isProcessAlive } from './owner.js';

/** Stops the server that a dead launcher left running in this data directory, if there is one. */
export async function stopOrphan(dataDir: string): Promise<void> {
  const pid = (await readPostmasterFile(dataDir)).pid;
  if (pid === undefined || !(await isServerOf(pid, dataDir))) return;
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (!send(pid, signal)) return;
    if (await isGoneWithin(pid, 10_000)) return;
  }
  throw new WhizbangError('EMBEDDED_START_FAILED', {
    message: `The server with process id ${pid}, which a dead process left in ${dataDir}, cannot be stopped.`,
    details: { pid, dataDir },
  });
}

/** Reads the server's own status file: its process id is the first line, its state the eighth. */
export async function readPostmasterFile(dataDir: string): Promise<{ pid?: number; state?: string }> {
  const lines = (await readFile(join(dataDir, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
  const pid = Number(lines[0]);
  return { ...(pid > 0 ? { pid } : {}), state: (lines[7] ?? '').trim() };
}

/**
 * Whether this process is the server of the folder. The file may be old and another process may have its id
 * by now, so only a process started on this folder counts.
 */
async function isServerOf(pid: number, dataDir: string): Promise<boolean> {
  if (!isProcessAlive(pid)) return false;
  const command =
    process.platform === 'linux'
      ? await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      : await runAs(ourselves(), 'ps', ['-o', 'command=', '-p', String(pid)]).catch(() => '');
  return ` ${command.replaceAll('\0', ' ')} `.includes(` -D ${dataDir} `);
}

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return isProcessAlive(pid);
  }
}

async function isGoneWithin(pid: number, milliseconds: number): Promise<boolean> {
  for (const end = Date.now() + milliseconds; Date.now() < end; await sleep(10)) {
    if (!isProcessAlive(pid)) return true;
  }
  return false;
}
