// How the page reads: it cannot write, and asks no longer than somebody waits for the answer.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Reader } from '../../src/dashboard/reads/reader.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

describe('The reader of the page', () => {
  it('the reader of the page cannot write', async () => {
    const reader = new Reader(db.pool);
    const written = reader.read('whizbang', (client, schema) =>
      client.query(`delete from ${schema}.wh_inbox`),
    );
    await expect(written).rejects.toMatchObject({ details: { sqlState: '25006' } });
  });

  it('a question is cancelled in the server when its reader goes away', async () => {
    const gone = new AbortController();
    const reader = new Reader(db.pool);
    const asked = reader.read('whizbang', (client) => client.query('select pg_sleep(120)'), gone.signal);
    const refused = expect(asked).rejects.toMatchObject({ status: 504 });
    const asking = async () =>
      (
        await db.pool.query(
          `select from pg_stat_activity where query = 'select pg_sleep(120)' and state = 'active'`,
        )
      ).rowCount;
    await eventually(async () => expect(await asking()).toBe(1));
    gone.abort();
    await refused;
    expect(await asking()).toBe(0);
  });
});
