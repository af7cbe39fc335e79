import type { Queryable } from '../database/index.js';
import { type Candidate, can } from './candidate.js';
import { splitAtParameters } from './placeholders.js';
import { hasEnded, notATransaction } from './refusal.js';
import { rowsOf } from './rows.js';

interface KnexTransaction {
  readonly isTransaction?: boolean;
  isCompleted(): boolean;
  raw(sql: string, bindings: unknown[]): PromiseLike<unknown>;
}

export function knex(candidate: Candidate): Queryable | undefined {
  if (!can(candidate, 'raw', 'batchInsert')) return undefined;
  const tx = candidate as unknown as KnexTransaction;
  if (tx.isTransaction !== true) {
    throw notATransaction(
      'a Knex instance outside a transaction',
      'Pass the argument of the callback: knex.transaction(async (tx) => …).',
    );
  }
  return {
    async query(text, values = []) {
      if (tx.isCompleted()) throw hasEnded('Knex');
      const { sql, bindings } = withQuestionMarks(text, values);
      return rowsOf(await tx.raw(sql, bindings));
    },
  };
}

/**
 * Rewrites `$1…` to `?`. Knex counts its `?`, so a value used twice is passed twice. A `?` in our text is
 * escaped. Knex does not replace `:name` when the bindings are a list.
 */
export function withQuestionMarks(text: string, values: unknown[]): { sql: string; bindings: unknown[] } {
  const bindings: unknown[] = [];
  const sql = splitAtParameters(text).map((part) => {
    if ('text' in part) return part.text.replaceAll('?', '\\?');
    bindings.push(values[part.parameter - 1]);
    return '?';
  });
  return { sql: sql.join(''), bindings };
}
