import type { Queryable } from '../database/index.js';
import { type Candidate, can } from './candidate.js';
import { hasEnded, notATransaction } from './refusal.js';
import { rowsOf } from './rows.js';

interface KyselyTransaction {
  readonly isTransaction: boolean;
  /** Set only on a controlled transaction: only that one reports that it is over. */
  readonly isCommitted?: boolean;
  readonly isRolledBack?: boolean;
  withoutPlugins(): KyselyTransaction;
  executeQuery(query: object): Promise<{ rows: unknown[] }>;
}

export function kysely(candidate: Candidate): Queryable | undefined {
  if (!can(candidate, 'executeQuery', 'withoutPlugins') || !('isTransaction' in candidate)) return undefined;
  const tx = candidate as unknown as KyselyTransaction;
  if (!tx.isTransaction) {
    throw notATransaction(
      'a Kysely instance outside a transaction',
      'Pass the argument of the callback: db.transaction().execute(async (tx) => …).',
    );
  }
  // Plugins rename columns (CamelCasePlugin) and parse text that looks like JSON (ParseJSONResultsPlugin).
  const plain = tx.withoutPlugins();
  return {
    async query(text, values = []) {
      if (tx.isCommitted || tx.isRolledBack) throw hasEnded('Kysely');
      return rowsOf(await plain.executeQuery(rawQuery(text, values)));
    },
  };
}

/** Builds what `CompiledQuery.raw(text, values)` of Kysely returns. */
function rawQuery(text: string, values: unknown[]): object {
  return {
    sql: text,
    parameters: values,
    query: { kind: 'RawNode', sqlFragments: [text], parameters: [] },
    queryId: { queryId: 'whizbang' },
  };
}
