import type { Queryable } from '../database/index.js';
import { type Candidate, can } from './candidate.js';
import { hasEnded, notATransaction } from './refusal.js';
import { rowsOf } from './rows.js';

interface PGliteTransaction extends Queryable {
  readonly closed?: boolean;
}

export function pglite(candidate: Candidate): Queryable | undefined {
  if (!can(candidate, 'query', 'exec')) return undefined;
  if (can(candidate, 'transaction')) {
    throw notATransaction(
      'a PGlite database outside a transaction',
      'Pass the argument of the callback: db.transaction(async (tx) => …).',
    );
  }
  const tx = candidate as unknown as PGliteTransaction;
  return {
    async query(text, values) {
      if (tx.closed === true) throw hasEnded('PGlite');
      return rowsOf(await tx.query(text, values));
    },
  };
}
