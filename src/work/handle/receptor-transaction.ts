// One transaction in which messages are handled, one after the other, and completed: usually one, several where many wait.
// In: the first, and who brings the next. Out: all their effects, the messages they sent and their completions, or nothing.
// Called by the receptor runner. It never says what becomes of a message that was not handled.

import { noRoom, spoilTransaction, type WorkCoordinator } from '../../coordinator/index.js';
import type { Queryable } from '../../database/index.js';
import type { OutboxWriter } from '../../dispatch/index.js';
import { WhizbangError } from '../../errors.js';
import type { MessageId, NewOutboxMessage, WorkItem } from '../../message.js';
import type { WorkUnit } from '../../strategies/index.js';
import { isLeaseLost } from '../leases/lease-lost.js';
import type { RunWatched } from '../transaction/transaction-watch.js';
import { reportOf, type Task } from './task.js';

interface ReceptorTransactionOptions<Tx> {
  readonly coordinator: WorkCoordinator;
  readonly transaction: RunWatched<Tx>;
  /** Messages whose own transaction is about to complete them. */
  readonly settling: Set<MessageId>;
  /** Stores what was sent, in this transaction. */
  readonly outbox: OutboxWriter;
  handle(task: Task<Tx>, tx: Tx, signal: AbortSignal): Promise<readonly NewOutboxMessage[]>;
  readonly onStep: (step: string, item: WorkItem) => void;
}

type Watched = Parameters<Parameters<RunWatched<unknown>>[0]>[1];

export class ReceptorTransaction<Tx> {
  readonly #options: ReceptorTransactionOptions<Tx>;
  readonly #tasks: Task<Tx>[] = [];
  /** When one of them is aborted, all are: they share their fate. */
  readonly #abort = new AbortController();
  readonly #onAbort = () =>
    this.#abort.abort(this.#tasks.find(({ signal }) => signal.aborted)?.signal.reason);
  #begunAt: number | undefined;
  /** All is done but the commit. */
  isSettled = false;
  /** Whose leases PostgreSQL said were lost. */
  lost: readonly MessageId[] = [];

  constructor(options: ReceptorTransactionOptions<Tx>) {
    this.#options = options;
  }

  get hasBegun(): boolean {
    return this.#begunAt !== undefined;
  }

  /** For how long it has been open. */
  get openMs(): number {
    return this.#begunAt === undefined ? 0 : performance.now() - this.#begunAt;
  }

  /** Resolves when it is committed. `next` brings another one, as long as it is worth it. */
  async run(first: Task<Tx>, next: () => Promise<Task<Tx> | undefined>): Promise<void> {
    const { transaction, settling } = this.#options;
    let thrown: { readonly error: unknown } | undefined;
    this.#join(first);
    try {
      await transaction(async (tx, watched) => {
        this.isSettled = false; // whoever begins a transaction may begin another when it failed
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
      // A `transaction` that keeps errors to itself must not make the message pass for handled.
      if (!this.isSettled) throw thrown === undefined ? notBegun() : thrown.error;
      this.#step('committed');
    } finally {
      for (const { item, signal } of this.#tasks) {
        settling.delete(item.messageId);
        signal.removeEventListener('abort', this.#onAbort);
      }
    }
  }

  async #work(tx: Tx, watched: Watched, next: () => Promise<Task<Tx> | undefined>): Promise<void> {
    const { onStep, settling } = this.#options;
    let messages: readonly NewOutboxMessage[] = [];
    for (let i = 0; ; i++) {
      const task = this.#tasks[i] ?? this.#join(await next());
      if (task === undefined) break;
      // What the next one sends comes behind it, whichever way it sends. Plainly, so that nobody waits for a lock of this transaction.
      if (messages.length > 0) await this.#options.outbox.store(messages, tx);
      onStep('begun', task.item);
      messages = await this.#options.handle(task, tx, watched.signal);
      onStep('handled', task.item);
    }
    // The fence would let us through if we had lost the message and got it again meanwhile.
    for (const { signal } of this.#tasks) if (isLeaseLost(signal.reason)) throw signal.reason;
    watched.refuseGivenUp();
    for (const { item } of this.#tasks) settling.add(item.messageId);
    await this.#settle(reportOf(this.#tasks, messages), watched.db);
  }

  #join(task: Task<Tx>): Task<Tx>;
  #join(task: Task<Tx> | undefined): Task<Tx> | undefined;
  #join(task: Task<Tx> | undefined): Task<Tx> | undefined {
    if (task === undefined) return undefined;
    this.#tasks.push(task);
    this.#options.onStep('starting', task.item);
    task.signal.addEventListener('abort', this.#onAbort, { once: true });
    if (task.signal.aborted) this.#onAbort();
    return task;
  }

  #step(step: string): void {
    for (const { item } of this.#tasks) this.#options.onStep(step, item);
  }

  /** In the handlers' transaction, as its last statement: it locks the rows of their streams until the commit. */
  async #settle(unit: WorkUnit, db: Queryable): Promise<void> {
    const request = { ...unit, ...noRoom };
    const { leaseLost } = await this.#options.coordinator.processWorkBatch(request, db);
    const [lost] = leaseLost;
    if (lost === undefined) return;
    this.lost = leaseLost.map(({ messageId }) => messageId);
    // So that it cannot be committed, whatever is made of the error below.
    await spoilTransaction(db);
    throw new WhizbangError('LEASE_LOST', {
      message: `The lease on message ${lost.messageId} was lost while it was handled.`,
      details: { messageId: lost.messageId },
    });
  }
}

function notBegun(): Error {
  return new Error('The transaction that was given to createWhizbang has not run the receptor.');
}
