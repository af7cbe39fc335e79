import type { Queryable } from '../database/index.js';
import { type Candidate, can, candidateOf } from './candidate.js';
import { knex } from './knex.js';
import { kysely } from './kysely.js';
import { notATransaction } from './refusal.js';

interface EntityManager {
  getTransactionContext(): unknown;
}

/**
 * Recognizes an EntityManager of MikroORM. Its transaction context is a transaction of Knex (MikroORM 6) or
 * Kysely (7). That one is used, because `em.execute` of MikroORM 6 writes the values into the text of the
 * statement. The context is read each time: em.begin() and em.commit() change it.
 */
export function mikroOrm(candidate: Candidate): Queryable | undefined {
  if (!can(candidate, 'isInTransaction', 'getTransactionContext')) return undefined;
  const em = candidate as unknown as EntityManager;
  contextOf(em);
  return { query: async (text, values) => contextOf(em).query(text, values) };
}

function contextOf(em: EntityManager): Queryable {
  const context = candidateOf(em.getTransactionContext());
  const found = context && (kysely(context) ?? knex(context));
  if (found !== undefined) return found;
  throw notATransaction(
    context
      ? 'an EntityManager of MikroORM on another database'
      : 'an EntityManager of MikroORM outside a transaction',
    'Pass the argument of the callback: em.transactional(async (em) => …), or call em.begin() first.',
  );
}
