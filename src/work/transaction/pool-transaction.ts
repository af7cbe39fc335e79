import {
  beginStatement,
  type ConnectionPool,
  pidOf,
  type Queryable,
  withPooledClient,
} from '../../database/index.js';
import { WhizbangError } from '../../errors.js';
import { answerWithin, unlessAborted } from '../../time-limits.js';
import { isLeaseLost } from '../leases/lease-lost.js';
import { brokenError } from './broken-connections.js';
import { OpenTransaction } from './open-transaction.js';
import type { RunInTransaction } from './transaction-watch.js';

/** A rollback waits for the statement under way: what a handler hangs in, or has left behind, must not hold its stream. */
const rollbackMs = 1_000;
/** For a handler to notice that its lease is lost, before its transaction is ended for it. */
const graceMs = 5_000;
/** The same when the instance stops and has already waited: what stays open would hold its locks against those who go on. */
const lastGraceMs = 500;

interface PoolTransactionOptions {
  readonly pool: ConnectionPool;
  /** So long it may stand still before PostgreSQL ends it. */
  readonly leaseSeconds: number;
  /** `begin` takes no time. Over a connection that died without a word, no answer ever comes. */
  readonly answerMs: number;
}

/**
 * Transactions on clients of the pool. What the work is given ends with it: a handler that goes on after its time
 * was up must not write into the transaction that has the connection next. When the lease is lost, the connection silent, or
 * the instance stops, and the work does not end by itself, it is not waited for: it may be waiting for an answer that never
 * comes.
 */
export function poolTransaction({
  pool,
  leaseSeconds,
  answerMs,
}: PoolTransactionOptions): RunInTransaction<Queryable> {
  const begin = beginStatement(leaseSeconds);
  return async <T>(work: (tx: Queryable) => Promise<T>, signal?: AbortSignal): Promise<T> => {
    let failure: Failure | undefined;
    const result = await withPooledClient(pool, async (client) => {
      const tx = new OpenTransaction(client, pidOf(await answerWithin(answerMs, client.query(begin))));
      try {
        const worked = await whileUseful(signal, work(tx));
        await whileUseful(signal, tx.commit());
        return worked;
      } catch (error) {
        tx.close();
        failure = { error: tx.explain(error) };
        await rollBack(client, failure);
        return undefined as T;
      }
    }).catch((error: unknown) => {
      throw failure === undefined ? error : failureOf(failure);
    });
    if (failure !== undefined) throw failure.error;
    return result;
  };
}

/** Anything may be thrown, also undefined. */
interface Failure {
  readonly error: unknown;
  /** The connection said so itself: whatever the work made of it, that was the reason. */
  isBroken?: boolean;
}

async function rollBack(client: Queryable, failure: Failure): Promise<void> {
  const { error } = failure;
  if (error instanceof Abandoned) throw error.broken;
  const rolledBack = client.query('rollback').catch((broken: unknown) => {
    failure.isBroken = true;
    throw broken;
  });
  await answerWithin(rollbackMs, rolledBack);
}

/** The connection is destroyed, which rolls back too. */
function failureOf({ error, isBroken }: Failure): unknown {
  if (error instanceof Abandoned) return error.reason;
  return !isBroken || isLeaseLost(error) || isTimeout(error) ? error : brokenError(error);
}

/** The work is pointless and goes on: its connection is destroyed, which rolls back what it wrote. */
class Abandoned {
  readonly reason: unknown;
  readonly broken: WhizbangError;
  constructor(reason: unknown) {
    this.reason = reason;
    this.broken = isSilent(reason)
      ? reason
      : new WhizbangError('CONNECTION_LOST', {
          message: 'A transaction was ended, because its lease was lost or the instance stops.',
        });
  }
}

/** Not waited for any longer than the reason of the signal allows. */
const whileUseful = <T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> =>
  unlessAborted(signal, work, { graceMs: graceMsOf, giveUp: (reason) => new Abandoned(reason) });

function graceMsOf(reason: unknown): number {
  if (isLeaseLost(reason)) return graceMs;
  return isSilent(reason) ? 0 : lastGraceMs;
}

const isSilent = (reason: unknown): reason is WhizbangError =>
  reason instanceof WhizbangError && reason.code === 'CONNECTION_LOST';

const isTimeout = (error: unknown) => error instanceof WhizbangError && error.code === 'HANDLER_TIMEOUT';
