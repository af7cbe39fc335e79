// Connections on which other deeds may come before a read of models and before a move; and small batches.
import type { ConnectionPool, Queryable } from '../../../src/database/index.js';
import type { TestDatabase } from '../../support/database.js';
import type { Random } from './random.js';

export function interruptedPool(
  db: TestDatabase,
  random: Random,
  meanwhile: () => Promise<void>,
): ConnectionPool {
  return {
    connect: async () => {
      const client = await db.pool.connect();
      const query = async (text: string, values: unknown[] = []) => {
        // Models of streams are also read ahead, beside other statements.
        const isOfKeys = text.includes('wh_read_models') && /keyed|loose/.test(String(values[0]));
        if (isOfKeys || text.includes('wh_move_bookmark')) await meanwhile();
        if (text.includes('wh_read_ahead')) values[4] = '2';
        const at = text.includes('wh_take_bookmark') ? 3 : text.includes('wh_move_bookmark') ? 6 : undefined;
        if (at !== undefined && values[at] !== '1') values[at] = String(1 + random.below(5));
        return client.query(text, values);
      };
      return { query, release: (error?: unknown) => client.release(error as Error) } as never;
    },
  };
}

/** As a library of the user's does it. */
export async function inTransaction<T>(
  pool: ConnectionPool,
  work: (tx: Queryable, watched: object) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const result = await work(client, { db: client, refuseGivenUp: () => {} });
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

/** A build may be dropped under a batch that reads its table. The worker then asks anew, and finds no bookmark. */
export async function unlessDropped(db: Queryable, build: string, error: unknown): Promise<null> {
  const { rows } = await db.query('select 1 from wh_perspectives where name = $1', [build]);
  if (rows.length > 0) throw error;
  return null;
}
