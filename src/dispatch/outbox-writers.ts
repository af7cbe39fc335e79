// The writers of the outbox: of a transaction, of an instance, of a scope, of a receptor.
// In: new outbox messages. Out: they are stored, or kept for the part that stores them.
// Called by the dispatcher, and by the parts that run receptors. They never look into a message.
import { noRoom, outboxInsert, setTimers, splitTimers, type WorkCoordinator } from '../coordinator/index.js';
import { fromDatabaseError, quoteSchema } from '../database/index.js';
import { WhizbangError } from '../errors.js';
import type { NewOutboxMessage } from '../message.js';
import type { QueuedUnit, WorkCoordinatorStrategy } from '../strategies/index.js';
import { asQueryable } from '../transactions/index.js';
import type { OutboxWriter } from './dispatcher.js';

/**
 * Stores in the user's transaction: by a plain insert, as timers, or
 * by `process_work_batch` when a message has an expected version.
 */
export class TransactionOutbox implements OutboxWriter {
  readonly #coordinator: WorkCoordinator;
  readonly #insert: ReturnType<typeof outboxInsert>;
  readonly #schema: string;
  readonly #sendsDirectly: boolean;

  constructor(coordinator: WorkCoordinator, schema: string, sendsDirectly: boolean) {
    this.#coordinator = coordinator;
    this.#schema = quoteSchema(schema);
    this.#sendsDirectly = sendsDirectly;
    this.#insert = outboxInsert(schema, sendsDirectly);
  }

  async store(messages: readonly NewOutboxMessage[], tx: unknown): Promise<void> {
    const db = asQueryable(tx);
    if (messages.some(({ expectedVersion }) => expectedVersion !== undefined)) {
      await this.#coordinator.processWorkBatch({ newOutboxMessages: messages, ...noRoom }, db);
      return;
    }
    if (!messages.some(({ isTimer }) => isTimer === true)) {
      await this.#insert(db, messages);
      return;
    }
    const { timers, others } = splitTimers(messages);
    if (others.length > 0) await this.#insert(db, others);
    await setTimers(db, this.#schema, timers, this.#sendsDirectly).catch((error: unknown) => {
      throw fromDatabaseError(error);
    });
  }
}

interface InstanceOutboxOptions {
  readonly service: string;
  readonly strategy: WorkCoordinatorStrategy;
  /** Whether the timer of the strategy stores what is queued. Otherwise it is stored at once. */
  readonly isTimed: boolean;
  readonly inTransaction: OutboxWriter;
}

/** Stores for an instance: in the given transaction, or else by its strategy. */
export class InstanceOutbox implements OutboxWriter {
  readonly #options: InstanceOutboxOptions;

  constructor(options: InstanceOutboxOptions) {
    this.#options = options;
  }

  store(messages: readonly NewOutboxMessage[], tx: unknown): Promise<void> {
    return tx === undefined ? this.#storeAlone(messages) : this.#options.inTransaction.store(messages, tx);
  }

  /**
   * Resolves when stored. Rejects when that failed. Without a
   * timer, nothing then stays queued that would be stored later.
   */
  async #storeAlone(newOutboxMessages: readonly NewOutboxMessage[]): Promise<void> {
    const { service, strategy, isTimed } = this.#options;
    try {
      const unit = strategy.queue({ newOutboxMessages });
      if (!isTimed) {
        await strategy.flush().catch((error: unknown) => {
          if (unit.withdraw()) throw error;
        });
      }
      await unit.carried;
    } catch (error) {
      throw error instanceof WhizbangError && error.code === 'DISPOSED' ? stopped(service, error) : error;
    }
  }
}

/** Stores for a scope: what is sent outside a transaction waits for its end. */
export class ScopeOutbox implements OutboxWriter {
  readonly #strategy: WorkCoordinatorStrategy;
  readonly #inTransaction: OutboxWriter;
  #units: QueuedUnit[] = [];

  constructor(strategy: WorkCoordinatorStrategy, inTransaction: OutboxWriter) {
    this.#strategy = strategy;
    this.#inTransaction = inTransaction;
  }

  async store(newOutboxMessages: readonly NewOutboxMessage[], tx: unknown): Promise<void> {
    if (tx !== undefined) return this.#inTransaction.store(newOutboxMessages, tx);
    this.#units.push(this.#strategy.queue({ newOutboxMessages }));
  }

  /**
   * Resolves when the messages are stored. Rejects when
   * PostgreSQL refused one that was sent since the last time.
   */
  async whenStored(): Promise<void> {
    const units = this.#units;
    this.#units = [];
    await Promise.all(units.map(({ carried }) => carried));
  }
}

/**
 * Collects what a receptor sends. It is stored when the receptor has ended, together with its other results.
 */
export class CollectedMessages implements OutboxWriter {
  readonly messages: NewOutboxMessage[] = [];

  async store(more: readonly NewOutboxMessage[]): Promise<void> {
    this.messages.push(...more);
  }
}

/** Converts DISPOSED into terms of the instance: senders do not know about strategies. */
function stopped(service: string, cause: WhizbangError): WhizbangError {
  return new WhizbangError('DISPOSED', {
    message: `${service} cannot send: the instance is stopped, or was stopped while the message waited.`,
    hint: 'Nothing was stored. Stop the instance after the last send has returned, or create a new one with createWhizbang.',
    cause,
  });
}
