import type { QueuedUnit, WorkCoordinatorStrategy } from '../strategies/index.js';
import { Dispatcher, type DispatcherOptions } from './dispatcher.js';

/**
 * Everything that is sent in it is stored in one call at its end: `await using scope = shop.scope()`.
 * Sending in a scope resolves when the message is checked and queued; `flush` and the end of the scope, when stored.
 */
export class MessageScope extends Dispatcher implements AsyncDisposable {
  readonly #strategy: WorkCoordinatorStrategy;
  readonly #units: QueuedUnit[];

  constructor(
    options: Omit<DispatcherOptions, 'outbox'>,
    strategy: WorkCoordinatorStrategy,
    storeIn: (messages: Parameters<DispatcherOptions['outbox']['store']>[0], tx: unknown) => Promise<void>,
  ) {
    const units: QueuedUnit[] = [];
    super({
      ...options,
      outbox: {
        store: async (newOutboxMessages, tx) => {
          if (tx !== undefined) return storeIn(newOutboxMessages, tx);
          units.push(strategy.queue({ newOutboxMessages }));
        },
      },
    });
    this.#strategy = strategy;
    this.#units = units;
  }

  /** Stores what was sent so far. Rejects when PostgreSQL refused one of the messages, or could not be reached. */
  async flush(): Promise<void> {
    await this.#strategy.flush();
    await Promise.all(this.#units.splice(0).map(({ carried }) => carried));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#strategy.dispose();
    await Promise.all(this.#units.splice(0).map(({ carried }) => carried));
  }
}
