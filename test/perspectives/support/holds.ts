import type { TestDatabase } from '../../support/database.js';

interface Hold {
  readonly id: string;
  readonly key: string | null;
  readonly failed: number;
  readonly error: string;
}

/** What is held, by stream. */
export async function holdsIn(db: TestDatabase): Promise<readonly Hold[]> {
  const { rows } = await db.pool.query<Hold>(
    `select stream_id as id, model_key as key, failed_version::int as failed, error
     from wh_perspective_checkpoints where held order by held_since, failed_version`,
  );
  return rows;
}

/** All that is held is tried again now. */
export async function retryNow(db: TestDatabase): Promise<void> {
  await db.pool.query('update wh_perspective_checkpoints set retry_at = clock_timestamp() where held');
}
