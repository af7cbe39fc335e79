// Starts the program as a process. Out: its spans so far, its metrics now, and a way to place orders. It is killed at the end.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { bundled } from '../../support/bundled.js';
import type { PlainSpan } from './spans.js';

export interface Service extends AsyncDisposable {
  readonly instanceId: string;
  readonly spans: readonly PlainSpan[];
  place(orderId: string, failures?: number): void;
  /** Its metrics, in the text format of Prometheus. */
  scrape(): Promise<string>;
  readonly endpoint: string;
  kill(): Promise<void>;
}

export async function startService(plan: object): Promise<Service> {
  const child: ChildProcess = fork(bundled(new URL('program.ts', import.meta.url)), [JSON.stringify(plan)], {
    execArgv: [],
  });
  const ended = once(child, 'exit');
  const spans: PlainSpan[] = [];
  const started = new Promise<{ endpoint: string; instanceId: string }>((resolve, reject) => {
    child.on('message', (told: { span?: PlainSpan; endpoint?: string; instanceId?: string }) => {
      if (told.span !== undefined) spans.push(told.span);
      else resolve(told as { endpoint: string; instanceId: string });
    });
    ended.then(([code]) => reject(new Error(`the process ended: ${code}`)), reject);
  });
  const { endpoint, instanceId } = await started;
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  return {
    instanceId,
    spans,
    endpoint,
    place: (orderId, failures) => void child.send({ orderId, failures }),
    scrape: async () => (await fetch(endpoint)).text(),
    kill,
    [Symbol.asyncDispose]: kill,
  };
}
