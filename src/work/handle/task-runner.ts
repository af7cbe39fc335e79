// Runs one task: the receptor with its message, in a transaction of its own or without one.
// In: a task. Out: nothing, when all that is to be said about it was said or queued; else an outcome.
// Called by the receptor runner; the transactions that it makes, also by what runs several as one.
import type { WorkCoordinator } from '../../coordinator/index.js';
import { CollectedMessages, continuing, type Origin, type OutboxWriter } from '../../dispatch/index.js';
import type { Logger } from '../../logger.js';
import type { MessageId, NewOutboxMessage, WorkItem } from '../../message.js';
import type { QueuedUnit, WorkUnit } from '../../strategies/index.js';
import { isLeaseLost } from '../leases/lease-lost.js';
import type { ItemOutcome } from '../streams/processor-options.js';
import type { RunWatched } from '../transaction/transaction-watch.js';
import type { FailedRuns } from './failed-runs.js';
import { ReceptorTransaction } from './receptor-transaction.js';
import { runHandler } from './run-handler.js';
import type { Sharing } from './sharing.js';
import { reportOf, type Task } from './task.js';

interface TaskRunnerOptions<Tx> {
  readonly coordinator: WorkCoordinator;
  readonly transaction: RunWatched<Tx>;
  /** Whose messages the receptors send. */
  readonly origin: Origin;
  /** Stores what is sent in a transaction, as a plain insert would. */
  readonly outbox: OutboxWriter;
  readonly queue: (unit: WorkUnit) => QueuedUnit;
  readonly failedRuns: FailedRuns<Tx>;
  readonly sharing: Sharing<Tx>;
  readonly logger: Logger;
}

export class TaskRunner<Tx> {
  readonly #options: TaskRunnerOptions<Tx>;
  /** Messages whose own transaction is about to complete them: a renewal may find them gone, which is no loss. */
  readonly settling = new Set<MessageId>();

  constructor(options: TaskRunnerOptions<Tx>) {
    this.#options = options;
  }

  run(task: Task<Tx>): Promise<ItemOutcome | undefined> {
    return task.receptor.transactional ? this.#runInTransaction(task) : this.#runWithout(task);
  }

  /** A transaction in which tasks are run and completed. */
  transaction(): ReceptorTransaction<Tx> {
    const { coordinator, transaction, outbox } = this.#options;
    return new ReceptorTransaction<Tx>({
      coordinator,
      transaction,
      settling: this.settling,
      outbox,
      handle: (task, tx, signal) => this.#handle(task, tx, signal),
      onStep: (step, item) => this.#step(step, item),
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
      this.#step('starting', item);
      const messages = await this.#handle(task, undefined, signal);
      this.#step('handled', item);
      if (isLeaseLost(signal.reason)) return { kind: 'forgotten' };
      // One that comes late is refused, and then what was sent must not leave either: whoever has the message now sends it.
      const sent = messages.map((message) => ({ ...message, onlyWith }));
      const { carried } = this.#options.queue(reportOf([task], sent));
      // A message that PostgreSQL refuses, for its version say, is a failure of the handler that sent it.
      if (messages.length > 0) await carried;
      return undefined;
    } catch (error) {
      return this.#options.failedRuns.outcomeOf(error, task, { hasBegun: true, isSettled: false });
    }
  }

  async #handle(
    { item, envelope, receptor }: Task<Tx>,
    tx: Tx | undefined,
    signal: AbortSignal,
  ): Promise<readonly NewOutboxMessage[]> {
    const { origin, sharing } = this.#options;
    const sent = new CollectedMessages();
    const dispatcher = continuing(origin, envelope, sent);
    const begunAt = performance.now();
    try {
      await runHandler(receptor, { envelope, tx, attempt: item.attempts + 1, signal, dispatcher });
    } finally {
      sharing.took(receptor, performance.now() - begunAt);
    }
    return sent.messages;
  }

  #step(step: string, { messageId, eventType }: WorkItem): void {
    this.#options.logger.debug({ step, messageId, type: eventType }, 'receptor');
  }
}
