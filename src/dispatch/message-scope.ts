import type { WorkCoordinatorStrategy } from '../strategies/index.js';
import { Dispatcher, type Origin, type OutboxWriter } from './dispatcher.js';
import { ScopeOutbox } from './outbox-writers.js';

/**
 * A scope: everything that is sent in it is stored in one call at its end.
 * Example: `await using scope = shop.scope()`.
 * Sending in a scope resolves when the message is checked and queued.
 * `flush` and the end of the scope resolve when it is stored.
 */
export class MessageScope extends Dispatcher implements AsyncDisposable {
  readonly #strategy: WorkCoordinatorStrategy;
  readonly #outbox: ScopeOutbox;

  constructor(origin: Origin, strategy: WorkCoordinatorStrategy, inTransaction: OutboxWriter) {
    const outbox = new ScopeOutbox(strategy, inTransaction);
    super({ ...origin, outbox });
    this.#strategy = strategy;
    this.#outbox = outbox;
  }

  /** Stores what was sent so far. Rejects when PostgreSQL refused one of the messages, or could not be reached. */
  async flush(): Promise<void> {
    await this.#strategy.flush();
    await this.#outbox.whenStored();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#strategy.dispose();
    await this.#outbox.whenStored();
  }
}
