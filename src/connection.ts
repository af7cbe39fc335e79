// The few things this package needs from a driver, as structural types, and the borrowing of a client.
// In: a pool, a client or anything with `query(text, values)`. Out: results, or the driver's error as ours.
// Called by the migrator and the coordinator. It never begins a transaction and never retries.
import { connectionFailed, fromDatabaseError } from './database-error.js';
import { WhizbangError } from './errors.js';

export interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

export interface PooledClient extends Queryable {
  release(error?: Error | boolean): void;
  on?(event: 'error', listener: (error: Error) => void): unknown;
  off?(event: 'error', listener: (error: Error) => void): unknown;
}

export interface ConnectionPool {
  connect(): Promise<PooledClient>;
  on?(event: 'error', listener: (error: Error) => void): unknown;
}

const guarded = new WeakSet<ConnectionPool>();

/**
 * A pool reports the death of an idle connection as an 'error', which ends the process when nobody listens.
 * The pool has already replaced that connection, so a restart of PostgreSQL needs no more than a listener.
 */
export function guardPool(pool: ConnectionPool): void {
  if (guarded.has(pool)) return;
  guarded.add(pool);
  pool.on?.('error', () => {});
}

/** Borrows a client for one piece of work. A client whose connection broke is destroyed, not given back. */
export async function withPooledClient<T>(
  pool: ConnectionPool,
  work: (client: Queryable) => Promise<T>,
): Promise<T> {
  let client: PooledClient;
  try {
    client = await pool.connect();
  } catch (error) {
    throw connectionFailed(error);
  }
  let broken: Error | undefined;
  // While a client is borrowed nobody else listens, and an 'error' without a listener ends the process.
  const onError = (error: Error) => {
    broken = error;
  };
  client.on?.('error', onError);
  try {
    return await work(client);
  } catch (error) {
    const ours = fromDatabaseError(error);
    if (ours.code === 'CONNECTION_LOST') broken ??= ours;
    throw ours;
  } finally {
    client.off?.('error', onError);
    client.release(broken);
  }
}

/** `"name"`, for a name that PostgreSQL would keep as it is. */
export function quoteSchema(schema: string): string {
  const fault = faultOf(schema);
  if (fault !== undefined) {
    throw new WhizbangError('INVALID_OPTION', {
      message: `The schema name ${JSON.stringify(schema)} ${fault}.`,
      hint: 'Use the name of a schema as PostgreSQL stores it, without quotes, for example "messaging".',
      details: { option: 'schema', value: schema },
    });
  }
  return `"${schema.replaceAll('"', '""')}"`;
}

function faultOf(schema: string): string | undefined {
  if (typeof schema !== 'string') return 'is not a string';
  if (schema === '') return 'is empty';
  if (schema.includes('\0')) return 'contains a zero character';
  if (Buffer.byteLength(schema) > 63) return 'is longer than 63 bytes, so PostgreSQL would cut it';
  if (schema.startsWith('pg_') || schema === 'information_schema') return 'is reserved by PostgreSQL';
  return undefined;
}
