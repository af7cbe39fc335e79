import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { readPostmasterFile } from '../../../src/embedded/orphan.js';
import { eventually } from '../../support/eventually.js';

const run = promisify(execFile);

/** Goes on by a shell at the other end of a pipe: should the test be killed, what it has frozen could not be stopped by anybody. */
const thawAtTheEnd = 'read -r _; kill -CONT "$@"';

/** The whole server in this data directory stops where it is; its connections stay open. Goes on when disposed of. */
export async function freezeServer(dataDir: string): Promise<AsyncDisposable> {
  const { pid } = await readPostmasterFile(dataDir);
  if (pid === undefined) throw new Error(`No server runs in ${dataDir}.`);
  // The first process before the others: else it could start further ones behind our back.
  process.kill(pid, 'SIGSTOP');
  await untilStopped([pid]);
  const { stdout } = await run('pgrep', ['-P', String(pid)]);
  const all = [pid, ...stdout.trim().split('\n').map(Number)];
  const thaw = spawn('/bin/sh', ['-c', thawAtTheEnd, 'thaw', ...all.map(String)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  for (const each of all) process.kill(each, 'SIGSTOP');
  await untilStopped(all);
  return {
    [Symbol.asyncDispose]: async () => {
      const ended = once(thaw, 'exit');
      thaw.stdin.end();
      await ended;
    },
  };
}

async function untilStopped(pids: readonly number[]): Promise<void> {
  await eventually(async () => {
    const { stdout } = await run('ps', ['-o', 'state=', '-p', pids.join(',')]);
    expect(stdout.trim().split(/\s+/)).toEqual(pids.map(() => expect.stringMatching(/^[TZ]/)));
  });
}
