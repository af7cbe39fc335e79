import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from './database.js';
import { openSession, waitUntilBlocked } from './sessions.js';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

const exists = async (on: TestDatabase, table: string): Promise<boolean> =>
  (await on.pool.query('select to_regclass($1) is not null as yes', [table])).rows[0].yes;

describe('a test database', () => {
  it('a test database has the current schema', async () => {
    expect(await exists(database, 'wh_outbox')).toBe(true);
  });

  it('a test database is empty when asked for', async () => {
    await using empty = await createTestDatabase({ template: 'empty' });
    expect(await exists(empty, 'wh_outbox')).toBe(false);
  });

  it('a test database shares nothing with another one', async () => {
    await using other = await createTestDatabase();
    await database.pool.query('create table only_here ()');
    expect(await exists(other, 'only_here')).toBe(false);
  });

  it('a test database is gone after drop, whoever is still connected', async () => {
    const doomed = await createTestDatabase();
    await doomed.connect();
    const borrowed = await doomed.pool.connect();
    borrowed.on('error', () => undefined);
    setImmediate(() => borrowed.release());
    await doomed.drop();
    const { rowCount } = await database.pool.query('select from pg_database where datname = $1', [
      doomed.name,
    ]);
    expect(rowCount).toBe(0);
  });
});

describe('waiting for a blocked session', () => {
  it('waitUntilBlocked returns who blocks the session', async () => {
    const [holder, waiter] = [await openSession(database), await openSession(database)];
    await holder.client.query('select pg_advisory_lock(1)');
    const waiting = waiter.client.query('select pg_advisory_lock(1)');
    expect(await waitUntilBlocked(database, waiter.pid)).toEqual([holder.pid]);
    await holder.client.query('select pg_advisory_unlock(1)');
    await waiting;
  });

  it('waitUntilBlocked fails with what the session is doing when nobody blocks it', async () => {
    const { pid } = await openSession(database);
    await expect(waitUntilBlocked(database, pid, 50)).rejects.toThrow(
      /not blocked within 50 ms.*"state":"idle"/,
    );
  });
});
