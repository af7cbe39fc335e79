import type { Queryable } from '../database/index.js';
import { type Candidate, can } from './candidate.js';
import { notATransaction } from './refusal.js';
import { rowsOf } from './rows.js';

interface TransactionSql {
  unsafe(text: string, parameters: unknown[]): PromiseLike<unknown[]>;
}

/**
 * Recognizes a transaction or a reserved connection of postgres.js. The latter looks neither like a
 * transaction nor like a pool: its owner sends `begin` on it.
 */
export function postgresJs(candidate: Candidate): Queryable | undefined {
  if (typeof candidate !== 'function' || !can(candidate, 'unsafe')) return undefined;
  if (!can(candidate, 'savepoint') && !can(candidate, 'release')) {
    throw notATransaction(
      'the sql of postgres.js outside a transaction',
      'Pass the argument of the callback: sql.begin(async (tx) => …).',
    );
  }
  const tx = candidate as unknown as TransactionSql;
  return { query: async (text, values = []) => rowsOf(await tx.unsafe(text, values)) };
}
