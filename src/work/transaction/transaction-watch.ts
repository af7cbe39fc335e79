// Watches over the transactions that receptors have open, for a connection that has fallen silent: nothing comes over it any
// more, and nobody is told. In: transactions, of the pool or of any library. Out: what became of them; or CONNECTION_LOST.
// Called by the receptors' runner and by invoke. It never ends one that works, however long it takes: PostgreSQL is asked
// over another connection, and the receptor's own is probed only when PostgreSQL says that it waits for it.
import {
  type ConnectionPool,
  connectMs,
  lookAtSessions,
  openingStatement,
  pidOf,
  type Queryable,
  type Sessions,
} from '../../database/index.js';
import { WhizbangError } from '../../errors.js';
import { answerWithin } from '../../time-limits.js';
import { WatchedTransaction } from './watched-transaction.js';

/** Runs something in a transaction. The signal is aborted when there is no point in it any more. */
export type RunInTransaction<Tx> = <T>(work: (tx: Tx) => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** The same under watch: the work also gets what it needs of that. */
export type RunWatched<Tx> = <T>(
  work: (tx: Tx, watched: Pick<WatchedTransaction, 'db' | 'signal' | 'refuseGivenUp'>) => Promise<T>,
  signal?: AbortSignal,
) => Promise<T>;

const longestMs = 15_000;

/** So long a connection may take to answer what takes no time: a third of a lease, as for renewals, unless that is long. */
export const answerMsOf = (leaseSeconds: number): number =>
  Math.min(Math.max(1_000, (leaseSeconds * 1000) / 3), longestMs);

interface TransactionWatchOptions<Tx> {
  readonly transaction: RunInTransaction<Tx>;
  /** To ask about the sessions of the others, over whichever answers first. */
  readonly pools: readonly ConnectionPool[];
  readonly leaseSeconds: number;
}

export class TransactionWatch<Tx> {
  readonly #options: TransactionWatchOptions<Tx>;
  readonly #answerMs: number;
  readonly #lookMs: number;
  readonly #open = new Set<WatchedTransaction>();
  readonly #probed = new WeakSet<WatchedTransaction>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: TransactionWatchOptions<Tx>) {
    this.#options = options;
    this.#answerMs = answerMsOf(options.leaseSeconds);
    // A transaction is first looked at when it is between one and two of these old. It must be heard of, also when a look
    // has failed, before PostgreSQL takes it for one that stands still.
    this.#lookMs = Math.min((options.leaseSeconds * 1000) / 4, longestMs);
  }

  readonly run: RunWatched<Tx> = async (work, signal) => {
    const watched = new WatchedTransaction(signal);
    this.#open.add(watched);
    this.#timer ??= setInterval(() => this.#look(), this.#lookMs).unref();
    try {
      const run = this.#options.transaction(async (tx) => {
        await watched.begin(tx, (db) => this.#introduce(watched, db));
        const result = await watched.orBroken(work(tx, watched), this.#answerMs);
        watched.refuseGivenUp();
        return result;
      }, watched.signal);
      return await Promise.race([run, watched.givenUp]);
    } catch (error) {
      // A library may throw what came of its rollback instead.
      throw watched.broken ?? error;
    } finally {
      this.#open.delete(watched);
      watched.close();
    }
  };

  async #introduce(watched: WatchedTransaction, db: Queryable): Promise<string | undefined> {
    try {
      const opening = db.query(openingStatement(this.#options.leaseSeconds));
      return pidOf(await answerWithin(this.#answerMs, opening));
    } catch (error) {
      if (error instanceof WhizbangError && error.code === 'CONNECTION_LOST') watched.giveUp(error);
      throw error;
    }
  }

  #look(): void {
    if (this.#open.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const now = performance.now();
    const old = [...this.#open].filter(({ openedAt }) => now - openedAt >= this.#lookMs);
    const begun = old.filter((watched) => watched.hasBegun && !this.#probed.has(watched));
    for (const watched of old) if (!watched.hasBegun) this.#giveUpWaiting(watched, now);
    if (begun.length > 0) void this.#probeAll(begun);
  }

  /**
   * The pool of a library may hold a silent connection, and wait on it for the answer to `begin`. Nothing was done yet. Our own
   * pool is less patient by itself.
   */
  #giveUpWaiting(watched: WatchedTransaction, now: number): void {
    const waitedMs = now - watched.openedAt;
    if (waitedMs < connectMs + this.#answerMs) return;
    watched.giveUp(
      new WhizbangError('CONNECTION_FAILED', {
        message: `The transaction had not begun after ${Math.round(waitedMs / 1000)} seconds.`,
        hint: 'The pool of your library has no connection left, or one that does not answer. Set its keepAlive.',
      }),
    );
  }

  async #probeAll(open: readonly WatchedTransaction[]): Promise<void> {
    for (const watched of open) this.#probed.add(watched);
    const sessions = await this.#lookAt(open);
    await Promise.all(open.map((watched) => this.#probe(watched, sessions)));
  }

  async #probe(watched: WatchedTransaction, sessions: Sessions): Promise<void> {
    try {
      if (await this.#isSilent(watched, sessions)) watched.giveUp(silent(this.#answerMs));
    } finally {
      this.#probed.delete(watched);
    }
  }

  async #isSilent(watched: WatchedTransaction, sessions: Sessions): Promise<boolean> {
    const before = sessions(watched.pid);
    if (!watched.isOpen || before === 'working') return false;
    // A cursor or a COPY of a library: it may take its time, and a question would queue behind it.
    if (before === 'transmitting' && !watched.hasStatement) return false;
    const { byteCount } = watched;
    if (await watched.answersWithin(this.#answerMs)) return false;
    // It may have begun to work since, and then the question waits for its turn.
    const after = (await this.#lookAt([watched]))(watched.pid);
    if (!watched.isOpen || watched.wasAnswered) return false;
    if (after === 'transmitting') return watched.hasStatement && watched.byteCount === byteCount;
    // Unseen: when it is idle, PostgreSQL ends it after a lease, and then it is gone.
    return after === 'idle' || after === 'gone';
  }

  async #lookAt(open: readonly WatchedTransaction[]): Promise<Sessions> {
    const pids = open.flatMap(({ pid }) => pid ?? []);
    return lookAtSessions(this.#options.pools, pids, this.#answerMs);
  }
}

function silent(answerMs: number): WhizbangError {
  return new WhizbangError('CONNECTION_LOST', {
    message: `The connection of a transaction has fallen silent: PostgreSQL waits for it, or has ended it, and over it nothing came for ${answerMs / 1000} seconds.`,
    details: { unansweredMs: answerMs },
  });
}
