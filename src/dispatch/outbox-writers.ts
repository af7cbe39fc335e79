// Where what is sent is put: by an instance, in a transaction, in a scope, by a receptor.
// In: new outbox messages. Out: they are stored, or wait for who stores them.
// Called by the dispatcher, and by those who run receptors. They never look into a message.
import { noRoom, outboxInsert, type WorkCoordinator } from '../coordinator/index.js';
import { WhizbangError } from '../errors.js';
import type { NewOutboxMessage } from '../message.js';
import type { QueuedUnit, WorkCoordinatorStrategy } from '../strategies/index.js';
import { asQueryable } from '../transactions/index.js';
import type { OutboxWriter } from './dispatcher.js';

/** In the user's transaction: as a plain insert would, or by the function of the call where a version has to hold. */
export class TransactionOutbox implements OutboxWriter {
  readonly #coordinator: WorkCoordinator;
  readonly #insert: ReturnType<typeof outboxInsert>;

  constructor(coordinator: WorkCoordinator, schema: string, sendsDirectly: boolean) {
    this.#coordinator = coordinator;
    this.#insert = outboxInsert(schema, sendsDirectly);
  }

  async store(messages: readonly NewOutboxMessage[], tx: unknown): Promise<void> {
    const db = asQueryable(tx);
    if (messages.some(({ expectedVersion }) => expectedVersion !== undefined)) {
      await this.#coordinator.processWorkBatch({ newOutboxMessages: messages, ...noRoom }, db);
      return;
    }
    await this.#insert(db, messages);
  }
}

interface InstanceOutboxOptions {
  readonly service: string;
  readonly strategy: WorkCoordinatorStrategy;
  /** Its own timer stores what is queued. Otherwise that is done at once. */
  readonly isTimed: boolean;
  readonly inTransaction: OutboxWriter;
}

/** Of an instance: in the transaction that it is given, else by its strategy. */
export class InstanceOutbox implements OutboxWriter {
  readonly #options: InstanceOutboxOptions;

  constructor(options: InstanceOutboxOptions) {
    this.#options = options;
  }

  store(messages: readonly NewOutboxMessage[], tx: unknown): Promise<void> {
    return tx === undefined ? this.#storeAlone(messages) : this.#options.inTransaction.store(messages, tx);
  }

  /** Resolves when stored. Rejects when that failed; stored at once, with nothing left behind that would be stored later. */
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

/** Of a scope: what is sent outside a transaction waits for its end. */
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

  /** Rejects when PostgreSQL refused one of those that were sent since the last time. */
  async whenStored(): Promise<void> {
    const units = this.#units;
    this.#units = [];
    await Promise.all(units.map(({ carried }) => carried));
  }
}

/** Of a receptor: what it sends is stored when it has ended, with what else comes of it. */
export class CollectedMessages implements OutboxWriter {
  readonly messages: NewOutboxMessage[] = [];

  async store(more: readonly NewOutboxMessage[]): Promise<void> {
    this.messages.push(...more);
  }
}

/** In terms of the instance: its senders know nothing of strategies. */
function stopped(service: string, cause: WhizbangError): WhizbangError {
  return new WhizbangError('DISPOSED', {
    message: `${service} cannot send: it is stopped, or was while the message waited.`,
    hint: 'Nothing was stored. Stop the instance after the last one who sends, or make a new one with createWhizbang.',
    cause,
  });
}
