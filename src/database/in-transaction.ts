import type { Queryable } from './connection.js';

/**
 * Runs statements of ours in one transaction on a client. If one fails, all of them are rolled back; so they
 * are in a rehearsal.
 */
export async function inTransaction<T>(
  db: Queryable,
  work: () => Promise<T>,
  { isRehearsal = false }: { readonly isRehearsal?: boolean } = {},
): Promise<T> {
  await db.query('begin');
  try {
    const answer = await work();
    await db.query(isRehearsal ? 'rollback' : 'commit');
    return answer;
  } catch (error) {
    await db.query('rollback').catch(() => {}); // a broken connection rolls back by itself
    throw error;
  }
}
