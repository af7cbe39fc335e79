// Runs one task: the receptor with its message, in a transaction of its own or without one.
// In: a task. Out: nothing, if its report is committed or queued; else an outcome.
// Called by the receptor runner. The group runner also uses the transactions that it makes.
import type { WorkCoordinator } from '../../coordinator/index.js';
import type { Queryable } from '../../database/index.js';
import { CollectedMessages, continuing, type Origin, type OutboxWriter } from '../../dispatch/index.js';
import { WhizbangError } from '../../errors.js';
import type { EventStore } from '../../events/index.js';
import { type Logger, readsDebug } from '../../logger.js';
import { type MessageId, MessageProcessingStatus, type NewOutboxMessage } from '../../message.js';
import type { Envelope } from '../../messages/index.js';
import type { QueuedUnit, WorkUnit } from '../../strategies/index.js';
import { asQueryable } from '../../transactions/index.js';
import { isLeaseLost } from '../leases/lease-lost.js';
import type { ItemOutcome } from '../streams/processor-options.js';
import type { RunWatched } from '../transaction/transaction-watch.js';
import { answersOf, isAskedFor } from './answers.js';
import type { FailedRuns } from './failed-runs.js';
import { failed } from './receptor-error.js';
import { ReceptorTransaction } from './receptor-transaction.js';
import { type Abort, runHandler } from './run-handler.js';
import type { Sharing } from './sharing.js';
import { readFor, reportOf, type Task, taskOf, type UnreadTask } from './task.js';

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
  readonly telemetry: HandlingTelemetry;
  readonly queue: (unit: WorkUnit) => QueuedUnit;
  readonly failedRuns: FailedRuns<Tx>;
  readonly sharing: Sharing<Tx>;
  /** Called when a task is done: committed, or reported where there is no transaction. */
  readonly onHandled: (task: Task<Tx>) => void;
  readonly logger: Logger;
}

type HandleTask<Tx> = (task: Task<Tx>, tx: Tx, abort: Abort) => Promise<readonly NewOutboxMessage[]>;

/** Records that a receptor runs. */
export interface HandlingTelemetry {
  process<T>(task: Task<never>, run: () => Promise<T>): Promise<T>;
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

type ReadTask<Tx> = { readonly task: Task<Tx> } | { readonly outcome: ItemOutcome };

export class TaskRunner<Tx> {
  readonly #options: TaskRunnerOptions<Tx>;
  /** Messages that their own transaction is about to complete. If a renewal misses one, it is not lost. */
  readonly settling = new Set<MessageId>();

  constructor(options: TaskRunnerOptions<Tx>) {
    this.#options = options;
  }

  /** Reads the message, and runs its receptor. */
  run(unread: UnreadTask<Tx>): Promise<ItemOutcome> {
    const read = this.read(unread);
    return read instanceof Promise ? read.then((later) => this.#runRead(later)) : this.#runRead(read);
  }

  #runRead(read: ReadTask<Tx>): Promise<ItemOutcome> {
    if ('outcome' in read) return Promise.resolve(read.outcome);
    const { task } = read;
    return task.receptor.transactional ? this.#runInTransaction(task) : this.#runWithout(task);
  }

  /** Reads the message of a task: at once, unless it has sealed fields or its schema is asynchronous. */
  read(unread: UnreadTask<Tx>): ReadTask<Tx> | Promise<ReadTask<Tx>> {
    const { item, receptor, isOneOfSeveral } = unread;
    const made = (envelope: Envelope) => ({ task: taskOf(unread, envelope) });
    const read = (opened: Parameters<typeof readFor<Tx>>[0]) => readFor(opened, receptor, isOneOfSeveral);
    try {
      const opening = this.#options.events.opened(item);
      const reading = opening instanceof Promise ? opening.then(read) : read(opening);
      if (!(reading instanceof Promise)) return made(reading);
      return reading.then(made).catch((error: unknown) => this.#notRead(error, unread));
    } catch (error) {
      return this.#notRead(error, unread);
    }
  }

  async #notRead(error: unknown, unread: UnreadTask<Tx>): Promise<ReadTask<Tx>> {
    // A retry cannot make a payload match its schema.
    if (error instanceof WhizbangError && error.code === 'INVALID_MESSAGE') {
      return { outcome: failed(unread.receptor, error, true) };
    }
    // Perhaps the keys of its sealed fields could not be fetched.
    const begun = { hasBegun: false, isSettled: false };
    return { outcome: await this.#options.failedRuns.outcomeOf(error, unread, begun) };
  }

  /** Makes a transaction in which tasks are run, each by `handle`, and completed. */
  transaction(handle: HandleTask<Tx> = (...task) => this.handle(...task)): ReceptorTransaction<Tx> {
    const { coordinator, transaction, outbox, sharing } = this.#options;
    return new ReceptorTransaction<Tx>({
      coordinator,
      transaction,
      settling: this.settling,
      outbox,
      handle,
      onStep: (step, task) => this.#step(step, task),
      onCommitted: (milliseconds) => sharing.committed(milliseconds),
    });
  }

  async #runInTransaction(task: Task<Tx>): Promise<ItemOutcome> {
    const { failedRuns } = this.#options;
    const transaction = this.transaction();
    try {
      await transaction.run(task, () => undefined);
      this.#options.onHandled(task);
      failedRuns.succeeded(task.item.messageId);
      return { kind: 'settled' };
    } catch (error) {
      return failedRuns.outcomeOf(error, task, transaction);
    }
  }

  async #runWithout(task: Task<Tx>): Promise<ItemOutcome> {
    const { item, started } = task;
    try {
      this.#step('starting', task);
      const messages = await this.handle(task, undefined, started);
      this.#step('handled', task);
      if (isLeaseLost(started.reason)) return { kind: 'forgotten' };
      // A late report is refused, and its messages must not leave either: the new lease holder sends them.
      const sent = messages.map((message) => ({ ...message, onlyWith: item.messageId }));
      const reported = this.#options.queue(reportOf([task], sent));
      // A message that PostgreSQL refuses, for example for its version, is a failure of its handler. And the
      // transaction of a receptor behind it may finish the message, after which its record would be late.
      if (messages.length > 0 || !task.isLast) await reported.carried;
      this.#options.onHandled(task);
      return { kind: 'settled' };
    } catch (error) {
      return this.#options.failedRuns.outcomeOf(error, task, { hasBegun: true, isSettled: false });
    }
  }

  /** Runs the handler of a task, and returns what it has sent. */
  async handle(task: Task<Tx>, tx: Tx | undefined, abort: Abort): Promise<readonly NewOutboxMessage[]> {
    const { origin, sharing, events, inline, telemetry } = this.#options;
    const { item, items = [item], envelope, receptor, attempt, isLastAttempt, givenUp, onReturned } = task;
    const sent = new CollectedMessages();
    const dispatcher = () => continuing({ ...origin, tx: tx as object | undefined }, envelope, sent);
    const begunAt = performance.now();
    try {
      const handling = { envelope, tx, attempt, isLastAttempt, givenUp, abort, dispatcher, events };
      const returned = await telemetry.process(task as Task<never>, () => runHandler(receptor, handling));
      onReturned?.(returned);
      if (isAskedFor(items)) await sent.store(await answersOf(task, returned, origin));
    } finally {
      task.durationMs = performance.now() - begunAt;
      sharing.took(receptor, task.durationMs);
    }
    // The stage of the perspectives is reported with that of the receptors: both are done now.
    const stored = items.filter(({ status }) => (status & MessageProcessingStatus.EventStored) !== 0);
    const db = () => (tx === undefined ? undefined : asQueryable(tx));
    if (stored.length > 0 && inline.concerns(stored)) await inline.bring(stored, db());
    if (tx !== undefined && inline.concerns(sent.messages))
      await inline.append(sent.messages, asQueryable(tx));
    return sent.messages;
  }

  #step(step: string, { item: { messageId, eventType: type }, receptor, begunAt }: Task<Tx>): void {
    if (!readsDebug(this.#options.logger)) return;
    const afterMs = Number((performance.now() - begunAt).toFixed(1));
    this.#options.logger.debug({ step, messageId, type, receptor: receptor.name, afterMs }, 'receptor');
  }
}
