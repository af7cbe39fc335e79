import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { bundled } from '../../support/bundled.js';
import { eventually } from '../../support/eventually.js';
import type { Plan } from './plan.js';

const run = promisify(execFile);

interface InstanceProcess extends AsyncDisposable {
  /** By its signal or with its exit code. */
  readonly ended: Promise<string | number>;
  readonly hasEnded: boolean;
  signal(signal: NodeJS.Signals): void;
  /** Resolves when the process has been stopped by SIGSTOP. */
  untilStopped(): Promise<void>;
}

/** Starts an instance as a process of its own. Resolves when it works. It is killed at the end, whatever happens. */
export const startProcess = (plan: Plan): Promise<InstanceProcess> =>
  startProgram(new URL('program.ts', import.meta.url), plan);

/** The same with another program. */
export async function startProgram<P extends object>(
  file: URL,
  plan: P & Partial<Pick<Plan, 'accident'>>,
): Promise<InstanceProcess> {
  const child = fork(bundled(file), [JSON.stringify(plan)], { execArgv: [] });
  let hasEnded = false;
  const ended = once(child, 'exit').then(([code, signal]) => {
    hasEnded = true;
    return (signal ?? code) as string | number;
  });
  const started = once(child, 'message');
  const instance: InstanceProcess = {
    ended,
    get hasEnded() {
      return hasEnded;
    },
    signal: (signal) => void child.kill(signal),
    untilStopped: async () => {
      await eventually(async () => {
        const { stdout } = await run('ps', ['-o', 'state=', '-p', String(child.pid)]);
        expect(stdout.trim()).toMatch(/^T/);
      });
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
  // With orders to place at once it may die before it can say that it has started.
  const first = await Promise.race([started, ended]);
  if (plan.accident === undefined && !Array.isArray(first)) throw new Error(`the process ended: ${first}`);
  return instance;
}
