// The few things this package needs from a driver, as structural types, and the borrowing of a client.
// In: a pool, a client or anything with `query(text, values)`. Out: results, or the driver's error as ours.
// Called by the migrator and the coordinator. It never begins a transaction and never retries.

import { WhizbangError } from '../errors.js';
import { answerWithin, unansweredMsOf } from '../time-limits.js';
import { connectionFailed, fromDatabaseError } from './database-error.js';
import { askIdle } from './idle-connections.js';

/** Anything that runs a statement: a client, a transaction. A receptor has one as `ctx.tx`. */
export interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

/** A client of a pool: a `pg.PoolClient` fits. */
export interface PooledClient extends Queryable {
  release(error?: Error | boolean): void;
  on?(event: 'error', listener: (error: Error) => void): unknown;
  off?(event: 'error', listener: (error: Error) => void): unknown;
}

/** A pool of connections: a `pg.Pool` fits. */
export interface ConnectionPool {
  connect(): Promise<PooledClient>;
  /** The pool that these connections come from, when this one has none of its own. */
  readonly source?: ConnectionPool | undefined;
  on?(event: 'error', listener: (error: Error) => void): unknown;
}

/** The methods that a LISTEN connection must have. A `pg.Client` fits. */
export interface ListenClient {
  query(text: string): Promise<{ rows: unknown[] }>;
  on(event: 'notification', listener: (notification: { payload?: string | undefined }) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  end(): Promise<void>;
}

const guarded = new WeakSet<ConnectionPool>();

/**
 * Adds the listeners that a pool needs. A pool reports the end of an idle connection as
 * an 'error', which ends the process when nobody listens. The pool has already replaced
 * that connection, so a restart of PostgreSQL needs no more than a listener. A new
 * connection needs one too. It may break after the pool has removed its listener and
 * before the borrower has added one, when its first message and its end arrive together.
 */
export function guardPool(pool: ConnectionPool): void {
  if (guarded.has(pool)) return;
  guarded.add(pool);
  pool.on?.('error', () => {});
  (pool as unknown as ClientAnnouncer).on?.('connect', (client) => client.on?.('error', () => {}));
}

interface ClientAnnouncer {
  on?(event: 'connect', listener: (client: PooledClient) => void): unknown;
}

/**
 * Borrows a client for one piece of work. A client whose connection broke, or that did not answer in time, is
 * destroyed, not given back.
 */
export async function withPooledClient<T>(
  pool: ConnectionPool,
  work: (client: Queryable) => Promise<T>,
  timeoutMs?: number,
): Promise<T> {
  const client = await borrowClient(pool, Math.min(timeoutMs ?? connectMs, connectMs));
  let broken: Error | undefined;
  // While a client is borrowed nobody else listens, and an 'error' without a listener ends the process.
  const onError = (error: Error) => {
    broken = error;
  };
  client.on?.('error', onError);
  try {
    return await answerWithin(timeoutMs, work(client));
  } catch (error) {
    const ours = fromDatabaseError(error);
    // A connection to a server that has become a replica is useless: the next may lead to the new primary.
    if (ours.code === 'CONNECTION_LOST' || ours.code === 'READ_ONLY_DATABASE') broken ??= ours;
    const unansweredMs = unansweredMsOf(ours);
    if (unansweredMs !== undefined) askIdle(pool.source ?? pool, unansweredMs);
    throw ours;
  } finally {
    client.off?.('error', onError);
    client.release(broken);
  }
}

/**
 * Time limit to get a connection. Opening one takes no time, and
 * neither does waiting for one in a pool that is large enough.
 */
export const connectMs = 15_000;

/**
 * Borrows a client of the pool, with a time limit. A connection that is opened while
 * the network is down may never be answered, and a pool whose clients all wait for
 * another one never has one left. A client that comes too late goes back to the pool.
 */
export async function borrowClient(pool: ConnectionPool, withinMs = connectMs): Promise<PooledClient> {
  let isLate = false;
  const connect = async () => {
    try {
      const client = await pool.connect();
      if (isLate) client.release();
      return client;
    } catch (error) {
      throw noClient(pool, error);
    }
  };
  return answerWithin(withinMs, connect(), () => {
    isLate = true;
    return noClient(pool, new Error(`none became free within ${withinMs / 1000} seconds`));
  });
}

/** The counts of a `pg.Pool`. Other pools may not have them. */
interface PoolCounts {
  readonly totalCount?: number;
  readonly idleCount?: number;
  readonly options?: { readonly max?: number };
}

function noClient(pool: ConnectionPool, error: unknown): WhizbangError {
  const { totalCount = 0, idleCount, options } = (pool.source ?? pool) as PoolCounts;
  const max = options?.max ?? Number.POSITIVE_INFINITY;
  if (error instanceof WhizbangError || idleCount !== 0 || totalCount < max) return connectionFailed(error);
  return new WhizbangError('POOL_EXHAUSTED', {
    message: `All ${max} connections of the pool are in use: ${error instanceof Error ? error.message : String(error)}.`,
    details: { max },
    cause: error,
  });
}
