import { spawn } from 'node:child_process';
import type { DataDir } from './data-dir.js';

/**
 * However this process ends (return, exit, crash, signal, even SIGKILL), its end of the pipe closes. A shell
 * at the other end then stops the server and removes its temporary data. So there are no exit hooks and no
 * signal handlers that could interfere with the application. A line on the pipe means that there is nothing
 * left to do.
 */
const script = `
read -r finished && exit 0
kill -INT "$1"
tenths=0
while read -r running < "$2/postmaster.pid" && [ "$running" = "$1" ] && [ "$tenths" -lt 250 ]; do
  [ "$tenths" -eq 100 ] && kill -QUIT "$1"
  [ "$tenths" -eq 200 ] && kill -KILL "$1"
  tenths=$((tenths + 1))
  sleep 0.1
done
[ "$3" = keep ] || rm -rf "$2"
`;

interface Watchdog {
  dismiss(): void;
}

export function watchServer(serverPid: number, data: DataDir): Watchdog {
  // Detached: a Ctrl-C goes to the whole process group, and the watchdog has to survive it.
  const values = [String(serverPid), data.path, data.isTemporary ? 'remove' : 'keep'];
  const child = spawn('/bin/sh', ['-c', script, 'whizbang-watchdog', ...values], {
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.unref();
  // Without a watchdog the next start sweeps.
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  return { dismiss: () => child.stdin.end('finished\n') };
}
