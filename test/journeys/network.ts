import { setTimeout as pause } from 'node:timers/promises';
import { startTcpProxy } from '../coordinator/tcp-proxy.js';

/** The network between one service and a server, which can fall silent or be away. */
export interface Network extends AsyncDisposable {
  readonly url: string;
  /** What is connected stays open and carries no byte any more, as when packets are dropped. New connections work. */
  fallSilent(): Promise<void>;
  /** Connections end, and there are no new ones for so long. */
  goAway(ms: number): Promise<void>;
}

export async function networkTo(url: string): Promise<Network> {
  const proxy = await startTcpProxy(url);
  return {
    url: proxy.connectionString,
    fallSilent: async () => proxy.moveTo(url, 'silent'),
    goAway: async (ms) => {
      proxy.hangUpOn = Number.POSITIVE_INFINITY;
      proxy.cut();
      await pause(ms);
      proxy.hangUpOn = 0;
    },
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
}
