// Keeps one connection to NATS open, for ever: when it ends, the next one is opened, with fresh credentials.
// In: a way to open one. Out: the open one, and whether there is one. Called by the connection.
import { EventEmitter, once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { WhizbangError } from '../../errors.js';
import type { NatsClient } from './client.js';
import { unavailable } from './nats-errors.js';

const shortestPauseMs = 50;
const longestPauseMs = 2_000;

interface LinkOptions {
  readonly open: () => Promise<NatsClient>;
  readonly onChange: (isUp: boolean, error?: unknown) => void;
}

export class NatsLink {
  readonly #options: LinkOptions;
  readonly #changes = new EventEmitter().setMaxListeners(0);
  readonly #closed = new AbortController();
  #client: NatsClient | undefined;
  #error: unknown;
  #running: Promise<void> = Promise.resolve();

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** Resolves also while NATS cannot be reached. Rejects when a retry cannot help. */
  async start(): Promise<void> {
    try {
      await this.#open();
    } catch (error) {
      if (!(error instanceof WhizbangError) || error.code !== 'TRANSPORT_UNAVAILABLE') throw error;
    }
    this.#running = this.#run();
  }

  get isUp(): boolean {
    return this.#client !== undefined && !this.#client.nc.isClosed();
  }

  /** The open connection. Throws TRANSPORT_UNAVAILABLE when there is none. */
  get client(): NatsClient {
    if (this.#client !== undefined) return this.#client;
    throw unavailable('There is no connection to NATS.', this.#error);
  }

  /** Resolves with the connection when there is one. Rejects with the reason of the signal. */
  async up(signal: AbortSignal): Promise<NatsClient> {
    for (;;) {
      signal.throwIfAborted();
      if (this.#client !== undefined) return this.#client;
      await once(this.#changes, 'up', { signal }).catch(() => signal.throwIfAborted());
    }
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#client?.nc.close().catch(() => {});
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closed;
    for (let failures = 0; !signal.aborted; ) {
      if (this.#client !== undefined) {
        failures = 0;
        const client = this.#client;
        const reason = await client.nc.closed();
        this.#client = undefined;
        this.#error = reason ?? undefined;
        if (!signal.aborted)
          this.#options.onChange(
            false,
            unavailable('The connection to NATS has ended.', reason ?? undefined),
          );
      }
      const pauseMs = Math.min(shortestPauseMs * 2 ** failures++, longestPauseMs);
      await wait(pauseMs, undefined, { signal }).catch(() => {});
      if (!signal.aborted) await this.#open().catch(() => {});
    }
    await this.#client?.nc.close().catch(() => {});
    this.#client = undefined;
  }

  async #open(): Promise<void> {
    try {
      this.#client = await this.#options.open();
    } catch (error) {
      this.#error = error;
      this.#options.onChange(false, error);
      throw error;
    }
    this.#error = undefined;
    this.#options.onChange(true);
    this.#changes.emit('up');
  }
}
