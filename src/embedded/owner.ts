import { readFileSync } from 'node:fs';

/**
 * A token that names this process, so that another one can check later whether it is still alive: its id and,
 * where /proc has it, its start time. The id alone is not enough: ids are reused, and in a restarted
 * container at once.
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
    // EPERM: the process exists and belongs to another user.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  // A zombie has ended. In a container whose first process is no init, it is never reaped.
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
