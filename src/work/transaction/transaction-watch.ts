// Monitors the open transactions of receptors for a silent connection: one that no longer carries data and
// reports no error. In: transactions, of the pool or of any library. Out: their results; or CONNECTION_LOST.
// Called by the receptors' runner and by invoke. It never ends one that works, however long it takes: it asks
// PostgreSQL over another connection, and probes the receptor's own only when PostgreSQL reports that it
// waits for that client.
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

/** Runs work in a transaction. The signal is aborted when the work is no longer needed. */
export type RunInTransaction<Tx> = <T>(work: (tx: Tx) => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** Runs work in a monitored transaction. The work also gets the part of the monitor that it needs. */
export type RunWatched<Tx> = <T>(
  work: (tx: Tx, watched: Pick<WatchedTransaction, 'db' | 'signal' | 'refuseGivenUp'>) => Promise<T>,
  signal?: AbortSignal,
) => Promise<T>;

const longestMs = 15_000;

/**
 * Returns the time limit of an answer that takes no time: a third of a lease, as for renewals, but at least 1
 * and at most 15 seconds.
 */
export const answerMsOf = (leaseSeconds: number): number =>
  Math.min(Math.max(1_000, (leaseSeconds * 1000) / 3), longestMs);

interface TransactionWatchOptions<Tx> {
  readonly transaction: RunInTransaction<Tx>;
  /** Pools over which the sessions are looked up. The first that answers counts. */
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
    // A transaction is first looked at when its age is between one and two of these intervals. It must be
    // probed, even if one look fails, before PostgreSQL ends it as idle.
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
      // A library may throw the error of its rollback instead.
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
   * Gives up a transaction that has not begun. The pool of a library may wait on a silent connection for the
   * answer to `begin`. Nothing was done yet. Our own pool has a shorter limit.
   */
  #giveUpWaiting(watched: WatchedTransaction, now: number): void {
    const waitedMs = now - watched.openedAt;
    if (waitedMs < connectMs + this.#answerMs) return;
    watched.giveUp(
      new WhizbangError('CONNECTION_FAILED', {
        message: `The transaction had not begun after ${Math.round(waitedMs / 1000)} seconds.`,
        hint: 'The pool of your library has no free connection, or has one that does not answer. Set its keepAlive.',
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
    // A cursor or a COPY of a library may take long, and a probe would queue behind it.
    if (before === 'transmitting' && !watched.hasStatement) return false;
    const { byteCount } = watched;
    if (await watched.answersWithin(this.#answerMs)) return false;
    // It may have begun to work since then, and the probe waits behind that statement.
    const after = (await this.#lookAt([watched]))(watched.pid);
    if (!watched.isOpen || watched.wasAnswered) return false;
    if (after === 'transmitting') return watched.hasStatement && watched.byteCount === byteCount;
    // A session that cannot be seen is not silent yet: if it is idle, PostgreSQL ends it after a lease, and
    // then it is "gone".
    return after === 'idle' || after === 'gone';
  }

  async #lookAt(open: readonly WatchedTransaction[]): Promise<Sessions> {
    const pids = open.flatMap(({ pid }) => pid ?? []);
    return lookAtSessions(this.#options.pools, pids, this.#answerMs);
  }
}

function silent(answerMs: number): WhizbangError {
  return new WhizbangError('CONNECTION_LOST', {
    message: `The connection of a transaction does not answer: PostgreSQL waits for the client or has ended the session, and nothing was received for ${answerMs / 1000} seconds.`,
    details: { unansweredMs: answerMs },
  });
}
