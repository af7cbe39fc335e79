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

/** Limit of a rollback. It waits for the statement under way, which may hang and must not hold the stream. */
const rollbackMs = 1_000;
/** Time for a handler to notice that its lease is lost, before its transaction is ended. */
const graceMs = 5_000;
/** The same when the instance stops and has already waited: the open locks would block other instances. */
const lastGraceMs = 500;

interface PoolTransactionOptions {
  readonly pool: ConnectionPool;
  /** Time that it may be idle before PostgreSQL ends it. */
  readonly leaseSeconds: number;
  /** Limit of `begin`, which takes no time. A connection that died silently never answers. */
  readonly answerMs: number;
}

/**
 * Runs transactions on clients of the pool. The `tx` of the work ends with it: a handler that continues after
 * its time was up must not write into the next transaction on the same connection. When the lease is lost,
 * the connection is silent, or the instance stops, work that does not end by itself is not waited for: it may
 * wait for an answer that never comes.
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

/** Wraps what was thrown, because anything may be thrown, also undefined. */
interface Failure {
  readonly error: unknown;
  /** Whether the rollback failed too. Then the broken connection was the reason, whatever the work threw. */
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

/** Returns the error to throw after a failed rollback. The connection is destroyed, which also rolls back. */
function failureOf({ error, isBroken }: Failure): unknown {
  if (error instanceof Abandoned) return error.reason;
  return !isBroken || isLeaseLost(error) || isTimeout(error) ? error : brokenError(error);
}

/** Thrown when needless work goes on. Its connection is destroyed, which rolls back what it wrote. */
class Abandoned {
  readonly reason: unknown;
  readonly broken: WhizbangError;
  constructor(reason: unknown) {
    this.reason = reason;
    this.broken = isSilent(reason)
      ? reason
      : new WhizbangError('CONNECTION_LOST', {
          message: 'A transaction was ended because its lease was lost or the instance is stopping.',
        });
  }
}

/** Waits for the work; after an abort, only as long as the reason of the signal allows. */
const whileUseful = <T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> =>
  unlessAborted(signal, work, { graceMs: graceMsOf, giveUp: (reason) => new Abandoned(reason) });

function graceMsOf(reason: unknown): number {
  if (isLeaseLost(reason)) return graceMs;
  return isSilent(reason) ? 0 : lastGraceMs;
}

const isSilent = (reason: unknown): reason is WhizbangError =>
  reason instanceof WhizbangError && reason.code === 'CONNECTION_LOST';

const isTimeout = (error: unknown) => error instanceof WhizbangError && error.code === 'HANDLER_TIMEOUT';
