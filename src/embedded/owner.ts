import { readFile } from 'node:fs/promises';

/**
 * Names this process, so that another one can tell later whether it is still alive: its id and, where /proc has
 * it, its start time. The id alone is not enough: ids are reused, and in a restarted container at once.
 */
export async function ownerToken(): Promise<string> {
  return `${process.pid}.${await startTime(process.pid)}`;
}

export async function isOwnerAlive(token: string): Promise<boolean> {
  const [pid = '', started = ''] = token.split('.');
  return isProcessAlive(Number(pid)) && (await startTime(Number(pid))) === started;
}

export function isProcessAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it exists and belongs to somebody else.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Field 22 of /proc/<pid>/stat. The second field is the program's name, which may contain spaces. */
async function startTime(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}
