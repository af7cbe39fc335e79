// One transaction that handles and completes messages in turn: usually one, or several where many wait.
// In: the first, and a function that brings the next. Out: all their effects, the messages they sent and
// their completions, or nothing. Called by the task runner and the group runner. It never decides the outcome
// of a message that was not handled.
import { noRoom, spoilTransaction, type WorkCoordinator } from '../../coordinator/index.js';
import type { Queryable } from '../../database/index.js';
import type { OutboxWriter } from '../../dispatch/index.js';
import { WhizbangError } from '../../errors.js';
import type { MessageId, NewOutboxMessage } from '../../message.js';
import type { WorkUnit } from '../../strategies/index.js';
import { isLeaseLost } from '../leases/lease-lost.js';
import type { RunWatched } from '../transaction/transaction-watch.js';
import type { Abort } from './run-handler.js';
import { reportOf, type Task } from './task.js';

interface ReceptorTransactionOptions<Tx> {
  readonly coordinator: WorkCoordinator;
  readonly transaction: RunWatched<Tx>;
  /** Messages whose own transaction is about to complete them. */
  readonly settling: Set<MessageId>;
  /** Stores the messages that were sent, in this transaction. */
  readonly outbox: OutboxWriter;
  handle(task: Task<Tx>, tx: Tx, abort: Abort): Promise<readonly NewOutboxMessage[]>;
  readonly onStep: (step: string, task: Task<Tx>) => void;
  /** Called with the time that it took to complete the messages and to commit. */
  readonly onCommitted: (milliseconds: number) => void;
}

/** Brings another task, or undefined when no more shall join. */
type NextTask<Tx> = () => Task<Tx> | undefined | Promise<Task<Tx> | undefined>;

type Watched = Parameters<Parameters<RunWatched<unknown>>[0]>[1];

export class ReceptorTransaction<Tx> {
  readonly #options: ReceptorTransactionOptions<Tx>;
  readonly #tasks: Task<Tx>[] = [];
  /** Aborts the transaction when one of its tasks is aborted: they are committed or rolled back together. */
  readonly #abort = new AbortController();
  readonly #onAbort = () =>
    this.#abort.abort(this.#tasks.find(({ started }) => started.aborted)?.started.reason);
  #begunAt: number | undefined;
  #handledAt = 0;
  /** Whether everything is done except the commit. */
  isSettled = false;
  /** Messages whose leases PostgreSQL reported as lost. */
  lost: readonly MessageId[] = [];

  constructor(options: ReceptorTransactionOptions<Tx>) {
    this.#options = options;
  }

  get hasBegun(): boolean {
    return this.#begunAt !== undefined;
  }

  /** Time since it was begun. Zero: it has not begun. */
  get openMs(): number {
    return this.#begunAt === undefined ? 0 : performance.now() - this.#begunAt;
  }

  /** Resolves when it is committed. */
  async run(first: Task<Tx>, next: NextTask<Tx>): Promise<void> {
    const { transaction, settling } = this.#options;
    let thrown: { readonly error: unknown } | undefined;
    this.#join(first);
    try {
      await transaction(async (tx, watched) => {
        this.isSettled = false; // a library may retry a failed transaction with a second one
        this.#begunAt = performance.now();
        try {
          await this.#work(tx, watched, next);
          this.isSettled = true;
          this.#step('settled');
        } catch (error) {
          thrown = { error };
          throw error;
        }
      }, this.#abort.signal);
      // If `transaction` swallows errors, the message must not count as handled.
      if (!this.isSettled) throw thrown === undefined ? notBegun() : thrown.error;
      this.#step('committed');
      this.#options.onCommitted(performance.now() - this.#handledAt);
    } finally {
      for (const { item } of this.#tasks) settling.delete(item.messageId);
    }
  }

  async #work(tx: Tx, watched: Watched, next: NextTask<Tx>): Promise<void> {
    const { onStep, settling } = this.#options;
    let messages: readonly NewOutboxMessage[] = [];
    for (let i = 0; ; i++) {
      const coming = this.#tasks[i] === undefined ? next() : undefined;
      const task = this.#tasks[i] ?? this.#join(coming instanceof Promise ? await coming : coming);
      if (task === undefined) break;
      // Stored now, so that messages of the next task follow these, whichever way it sends them. A plain
      // insert, so that nothing waits for a lock of this transaction.
      if (messages.length > 0) await this.#options.outbox.store(messages, tx);
      onStep('begun', task);
      messages = await this.#options.handle(task, tx, watched);
      onStep('handled', task);
    }
    // The fence does not detect a lease that was lost and then leased to this instance again.
    for (const { started } of this.#tasks) if (isLeaseLost(started.reason)) throw started.reason;
    watched.refuseGivenUp();
    this.#handledAt = performance.now();
    for (const { item } of this.#tasks) settling.add(item.messageId);
    await this.#settle(reportOf(this.#tasks, messages), watched.db);
  }

  #join<Joining extends Task<Tx> | undefined>(task: Joining): Joining {
    if (task === undefined) return task;
    this.#tasks.push(task);
    this.#options.onStep('starting', task);
    task.started.whenAborted(this.#onAbort);
    return task;
  }

  #step(step: string): void {
    for (const task of this.#tasks) this.#options.onStep(step, task);
  }

  /** Completes the messages, as the last statement: it locks the rows of their streams until the commit. */
  async #settle(unit: WorkUnit, db: Queryable): Promise<void> {
    const { leaseLost } = await this.#options.coordinator.processWorkBatch({ ...unit, ...noRoom }, db);
    const [lost] = leaseLost;
    if (lost === undefined) return;
    this.lost = leaseLost.map(({ messageId }) => messageId);
    // The transaction cannot be committed now, even if the error below is swallowed.
    await spoilTransaction(db);
    throw new WhizbangError('LEASE_LOST', {
      message: `The lease on message ${lost.messageId} was lost while it was handled.`,
      details: { messageId: lost.messageId },
    });
  }
}

function notBegun(): Error {
  return new Error('The function transaction, which was given to createWhizbang, has not run the receptor.');
}
