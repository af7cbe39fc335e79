// One open transaction of a receptor, as the TransactionWatch and the receptor's runner see it.
// In: the transaction, of the pool or of a library. Out: whether PostgreSQL still answers over its
// connection; its end, when it is given up. Called by the TransactionWatch. It never looks at other
// connections, and never decides that this one is silent.
import { setTimeout as pause } from 'node:timers/promises';
import { type Queryable, signOfLife } from '../../database/index.js';
import type { WhizbangError } from '../../errors.js';
import { asQueryable } from '../../transactions/index.js';
import { brokenError, hasBroken } from './broken-connections.js';
import { OpenTransaction } from './open-transaction.js';
import { StatementsUnderWay, wordOfServer } from './statements-under-way.js';

export class WatchedTransaction {
  readonly openedAt = performance.now();
  /** Set when the work failed and its connection was found broken. */
  broken: WhizbangError | undefined;
  /** Rejects when the transaction is given up. */
  readonly givenUp: Promise<never>;
  readonly #over = new AbortController();
  readonly #given: AbortSignal | undefined;
  readonly #onAbort = () => this.#over.abort(this.#given?.reason);
  #reject: (error: unknown) => void = () => {};
  #error: WhizbangError | undefined;
  #isOpen = true;
  #isOurs = false;
  #pid: string | undefined;
  #db: Queryable | undefined;
  #underWay = new StatementsUnderWay();
  #byteCount: () => number | undefined = () => undefined;
  #probe: Probe | undefined;

  constructor(signal: AbortSignal | undefined) {
    this.givenUp = new Promise((_, reject) => {
      this.#reject = reject;
    });
    this.givenUp.catch(() => {}); // perhaps nothing awaits it any more
    this.#given = signal;
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (signal?.aborted) this.#onAbort();
  }

  /** Signal that is aborted with the one passed to the constructor, and when the transaction is given up. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get hasBegun(): boolean {
    return this.#db !== undefined;
  }

  get pid(): string | undefined {
    return this.#pid;
  }

  /** Runs whizbang's own statements in the transaction. */
  get db(): Queryable {
    return this.#db as Queryable;
  }

  /** Whether a statement is known to be under way. Those run through a library are not known. */
  get hasStatement(): boolean {
    return !this.#underWay.isEmpty;
  }

  /** Number of bytes that have passed its connection. Undefined: it is not known. */
  get byteCount(): number | undefined {
    return this.#byteCount();
  }

  /** Begins. `introduce` runs the first statement in a library's transaction and returns its session id. */
  async begin(tx: unknown, introduce: (db: Queryable) => Promise<string | undefined>): Promise<void> {
    this.refuseGivenUp();
    if (tx instanceof OpenTransaction) {
      this.#isOurs = true;
      this.#underWay = tx.underWay;
      this.#byteCount = () => tx.byteCount;
      this.#pid = tx.pid;
      this.#db = tx;
      return;
    }
    const underWay = new StatementsUnderWay();
    const db = asQueryable(tx);
    this.#pid = await introduce(db);
    this.broken = undefined;
    // The library may have given up a first transaction and begun this second one. A probe of the first does
    // not count.
    if (this.#probe !== undefined) this.#probe.isAnswered = true;
    this.#underWay = underWay;
    this.#db = { query: (text, values) => underWay.add(db.query(text, values)) };
  }

  /**
   * Returns whether PostgreSQL answers over this connection in time. A statement under way serves as the
   * probe: another one would only queue behind it. A probe that is still unanswered is used again for the
   * same reason.
   */
  async answersWithin(milliseconds: number): Promise<boolean> {
    if (this.#probe === undefined || this.#probe.isAnswered) {
      this.#probe = new Probe(this.#underWay.nextAnswer ?? signOfLife(this.db));
    }
    const probe = this.#probe;
    const timer = new AbortController();
    const timeUp = pause(milliseconds, undefined, { signal: timer.signal, ref: false }).catch(() => {});
    await Promise.race([probe.answered, timeUp]);
    timer.abort();
    return probe.isAnswered;
  }

  /** Whether the last probe was answered late, perhaps because the event loop was blocked. */
  get wasAnswered(): boolean {
    return this.#probe?.isAnswered === true;
  }

  /**
   * Rejects with CONNECTION_LOST if the work failed because its connection broke. A transaction of our own
   * pool is not checked here: its rollback detects that.
   */
  async orBroken<T>(work: Promise<T>, answerMs: number): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (this.#isOurs || !(await hasBroken(this.db, error, answerMs))) throw error;
      this.broken = brokenError(error);
      throw this.broken;
    }
  }

  /** Gives the transaction up: nothing waits for it any longer. */
  giveUp(error: WhizbangError): void {
    this.#error = error;
    this.#over.abort(error);
    this.#reject(error);
  }

  /** Throws if it was given up. Work that goes on in it must not commit: the message may run again by now. */
  refuseGivenUp(): void {
    if (this.#error !== undefined) throw this.#error;
  }

  close(): void {
    this.#isOpen = false;
    this.#given?.removeEventListener('abort', this.#onAbort);
  }
}

class Probe {
  isAnswered = false;
  readonly answered: Promise<void>;

  constructor(answer: Promise<unknown>) {
    this.answered = wordOfServer(answer).then(() => {
      this.isAnswered = true;
    });
  }
}
