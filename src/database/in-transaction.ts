import type { Queryable } from './connection.js';

/** Runs statements of ours in one transaction on a client. If one fails, all of them are rolled back. */
export async function inTransaction<T>(db: Queryable, work: () => Promise<T>): Promise<T> {
  await db.query('begin');
  try {
    const answer = await work();
    await db.query('commit');
    return answer;
  } catch (error) {
    await db.query('rollback').catch(() => {}); // a broken connection rolls back by itself
    throw error;
  }
}
