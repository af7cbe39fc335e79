import { readFileSync } from 'node:fs';

/**
 * Names this process, so that another one can tell later whether it is still alive: its id and, where /proc has
 * it, its start time. The id alone is not enough: ids are reused, and in a restarted container at once.
 */
export function ownerToken(): string {
  return `${process.pid}.${readStatus(process.pid).startTime}`;
}

export function isOwnerAlive(token: string): boolean {
  const [pid = '', startTime = ''] = token.split('.');
  return isProcessAlive(Number(pid)) && readStatus(Number(pid)).startTime === startTime;
}

export function isProcessAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it exists and belongs to somebody else.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  // A zombie has ended. In a container whose first process is no init, nobody ever reaps it.
  return readStatus(pid).state !== 'Z';
}

/** The third and 22nd field of /proc/<pid>/stat. The second is the program's name, which may contain spaces. */
function readStatus(pid: number): { readonly state: string; readonly startTime: string } {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', startTime: fields[19] ?? '' };
  } catch {
    return { state: '', startTime: '' };
  }
}
