import type { Queryable } from '../database/index.js';
import { type Candidate, can, candidateOf } from './candidate.js';
import { isIdle } from './pg.js';
import { hasEnded, notATransaction } from './refusal.js';
import { rowsOf } from './rows.js';

interface DrizzleTransaction {
  execute(query: object): PromiseLike<unknown>;
  readonly session?: { readonly client?: unknown };
}

export function drizzle(candidate: Candidate): Queryable | undefined {
  if (!can(candidate, 'execute') || !can(candidateOf(candidate.dialect), 'sqlToQuery')) return undefined;
  if (!can(candidate, 'rollback')) {
    throw notATransaction(
      'a Drizzle database outside a transaction',
      'Pass the argument of the callback: db.transaction(async (tx) => …).',
    );
  }
  const tx = candidate as unknown as DrizzleTransaction;
  return {
    async query(text, values = []) {
      if (isIdle(tx.session?.client)) throw hasEnded('Drizzle');
      return rowsOf(await tx.execute(sqlOf(text, values)));
    },
  };
}

/** Builds what the `sql` tag of Drizzle returns, as far as `execute` reads it. */
function sqlOf(text: string, values: unknown[]): object {
  const query = { sql: text, params: values };
  const sql = { getSQL: () => sql, toQuery: () => query };
  return sql;
}
