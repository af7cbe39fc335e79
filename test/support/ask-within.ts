import type { TestDatabase } from './database.js';

/** Asks a function of ours that nobody calls from outside: it works in the schema that the search path begins with. */
export async function askWithin<Row>(
  db: TestDatabase,
  question: string,
  values: unknown[] = [],
): Promise<Row> {
  const client = await db.pool.connect();
  try {
    await client.query('begin; set local search_path = whizbang');
    const { rows } = await client.query(question, values);
    await client.query('commit');
    return rows[0] as Row;
  } finally {
    client.release();
  }
}
