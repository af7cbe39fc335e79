// Runs one task: the receptor with its message, in a transaction of its own or without one.
// In: a task. Out: nothing, if its report is committed or queued; else an outcome.
// Called by the receptor runner. The group runner also uses the transactions that it makes.
import type { WorkCoordinator } from '../../coordinator/index.js';
import type { Queryable } from '../../database/index.js';
import { CollectedMessages, continuing, type Origin, type OutboxWriter } from '../../dispatch/index.js';
import { WhizbangError } from '../../errors.js';
import type { EventStore } from '../../events/index.js';
import type { Logger } from '../../logger.js';
import { type MessageId, MessageProcessingStatus, type NewOutboxMessage } from '../../message.js';
import type { QueuedUnit, WorkUnit } from '../../strategies/index.js';
import { asQueryable } from '../../transactions/index.js';
import { isLeaseLost } from '../leases/lease-lost.js';
import type { ItemOutcome } from '../streams/processor-options.js';
import type { RunWatched } from '../transaction/transaction-watch.js';
import type { FailedRuns } from './failed-runs.js';
import { failed } from './receptor-error.js';
import { ReceptorTransaction } from './receptor-transaction.js';
import { runHandler } from './run-handler.js';
import type { Sharing } from './sharing.js';
import { readFor, reportOf, type Task } from './task.js';

interface TaskRunnerOptions<Tx> {
  readonly coordinator: WorkCoordinator;
  readonly transaction: RunWatched<Tx>;
  /** Origin of the messages that the receptors send. */
  readonly origin: Origin;
  /** Stores the messages that are sent in a transaction, as a plain insert would. */
  readonly outbox: OutboxWriter;
  /** The event store, for decisions of receptors. */
  readonly events: EventStore;
  readonly inline: InlineModels;
  readonly queue: (unit: WorkUnit) => QueuedUnit;
  readonly failedRuns: FailedRuns<Tx>;
  readonly sharing: Sharing<Tx>;
  readonly logger: Logger;
}

type EventOfStream = Pick<NewOutboxMessage, 'eventType' | 'streamId'>;

/** Inline perspectives: their models are stored in the transaction that stores the events. */
export interface InlineModels {
  concerns(events: readonly EventOfStream[]): boolean;
  /** Brings the models of the streams of these events, which are in the store, up to date. */
  bring(events: readonly EventOfStream[], db?: Queryable): Promise<void>;
  /** Appends the events among these messages that change models, and brings these up to date. */
  append(messages: readonly NewOutboxMessage[], db: Queryable): Promise<void>;
}

export class TaskRunner<Tx> {
  readonly #options: TaskRunnerOptions<Tx>;
  /** Messages that their own transaction is about to complete. If a renewal misses one, it is not lost. */
  readonly settling = new Set<MessageId>();

  constructor(options: TaskRunnerOptions<Tx>) {
    this.#options = options;
  }

  /** Reads the message, and runs its receptor. Undefined: it is done. */
  async run(unread: Omit<Task<Tx>, 'envelope'>): Promise<ItemOutcome | undefined> {
    const { item, receptor, isOneOfSeveral } = unread;
    let task: Task<Tx>;
    try {
      const opened = await this.#options.events.opened(item);
      task = { ...unread, envelope: await readFor(opened, receptor, isOneOfSeveral) };
    } catch (error) {
      // A retry cannot make a payload match its schema.
      if (error instanceof WhizbangError && error.code === 'INVALID_MESSAGE') {
        return failed(receptor, error, true);
      }
      // Perhaps the keys of its sealed fields could not be fetched.
      return this.#options.failedRuns.outcomeOf(error, unread, { hasBegun: false, isSettled: false });
    }
    return receptor.transactional ? this.#runInTransaction(task) : this.#runWithout(task);
  }

  /** Makes a transaction in which tasks are run and completed. */
  transaction(): ReceptorTransaction<Tx> {
    const { coordinator, transaction, outbox } = this.#options;
    return new ReceptorTransaction<Tx>({
      coordinator,
      transaction,
      settling: this.settling,
      outbox,
      handle: (task, tx, signal) => this.#handle(task, tx, signal),
      onStep: (step, task) => this.#step(step, task),
    });
  }

  async #runInTransaction(task: Task<Tx>): Promise<ItemOutcome | undefined> {
    const { failedRuns } = this.#options;
    const transaction = this.transaction();
    try {
      await transaction.run(task, async () => undefined);
      failedRuns.succeeded(task.item.messageId);
      return undefined;
    } catch (error) {
      return failedRuns.outcomeOf(error, task, transaction);
    }
  }

  async #runWithout(task: Task<Tx>): Promise<ItemOutcome | undefined> {
    const { item, signal } = task;
    const onlyWith = item.messageId;
    try {
      this.#step('starting', task);
      const messages = await this.#handle(task, undefined, signal);
      this.#step('handled', task);
      if (isLeaseLost(signal.reason)) return { kind: 'forgotten' };
      // A late report is refused, and its messages must not leave either: the new lease holder sends them.
      const sent = messages.map((message) => ({ ...message, onlyWith }));
      const { carried } = this.#options.queue(reportOf([task], sent));
      // A message that PostgreSQL refuses, for example for its version, is a failure of its handler. And the
      // transaction of a receptor behind it may finish the message, after which its record would be late.
      if (messages.length > 0 || !task.isLast) await carried;
      return undefined;
    } catch (error) {
      return this.#options.failedRuns.outcomeOf(error, task, { hasBegun: true, isSettled: false });
    }
  }

  async #handle(
    { item, envelope, receptor, attempt }: Task<Tx>,
    tx: Tx | undefined,
    signal: AbortSignal,
  ): Promise<readonly NewOutboxMessage[]> {
    const { origin, sharing, events, inline } = this.#options;
    const sent = new CollectedMessages();
    const dispatcher = continuing({ ...origin, tx: tx as object | undefined }, envelope, sent);
    const begunAt = performance.now();
    try {
      await runHandler(receptor, { envelope, tx, attempt, signal, dispatcher, events });
    } finally {
      sharing.took(receptor, performance.now() - begunAt);
    }
    // The stage of the perspectives is reported with that of the receptors: both are done now.
    const isStored = (item.status & MessageProcessingStatus.EventStored) !== 0;
    const db = tx === undefined ? undefined : asQueryable(tx);
    if (isStored && inline.concerns([item])) await inline.bring([item], db);
    if (db !== undefined) await inline.append(sent.messages, db);
    return sent.messages;
  }

  #step(step: string, { item: { messageId, eventType: type }, receptor }: Task<Tx>): void {
    this.#options.logger.debug({ step, messageId, type, receptor: receptor.name }, 'receptor');
  }
}
