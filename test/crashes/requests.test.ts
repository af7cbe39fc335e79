import { describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { endLeases } from './support/end-leases.js';
import { startProgram } from './support/process.js';
import { createSums, createTill, type RequestsPlan, tables } from './support/requests.js';

const program = new URL('support/requests-program.ts', import.meta.url);
const start = (plan: RequestsPlan) => startProgram<RequestsPlan>(program, plan);

const left = async (db: TestDatabase) =>
  (
    await db.pool.query(`
      select 'request' from wh_requests union all select 'outbox' from wh_outbox
      union all select 'inbox' from wh_inbox union all select 'dead' from wh_dead_letters
      union all select 'stream' from wh_active_streams`)
  ).rows;

/** The databases of both services, with the plans of their processes. */
async function twoDatabases() {
  const db = await createTestDatabase();
  const other = await createTestDatabase();
  await db.pool.query(tables);
  await other.pool.query(tables);
  const till = {
    role: 'till',
    connectionString: db.connectionString,
    other: other.connectionString,
  } as const;
  const sums = {
    role: 'sums',
    connectionString: other.connectionString,
    other: db.connectionString,
  } as const;
  return {
    db,
    other,
    till,
    sums,
    [Symbol.asyncDispose]: async () => {
      await db.drop();
      await other.drop();
    },
  };
}

describe('Processes that ask and answer', () => {
  it('every process gets the answers to its own requests, where several share the databases', async () => {
    await using both = await twoDatabases();
    const { db, other, till, sums } = both;
    await using _one = await start({ ...sums, name: 'one' });
    await using _two = await start({ ...sums, name: 'two' });
    const askers = await Promise.all(
      [0, 1, 2].map((k) =>
        start({ ...till, name: `till-${k}`, asks: Array.from({ length: 15 }, (_, i) => 100 * k + i) }),
      ),
    );
    for (const asker of askers) expect(await asker.ended).toBe(0);
    const { rows } = await db.pool.query(
      'select asker, count(*)::int, bool_and(twice = 2 * n) as is_right from answers group by asker order by asker',
    );
    expect(rows).toEqual([0, 1, 2].map((k) => ({ asker: `till-${k}`, count: 15, is_right: true })));
    expect((await other.pool.query('select n from doubled')).rows).toHaveLength(45);
    await eventually(async () => expect([...(await left(db)), ...(await left(other))]).toEqual([]));
  });

  it.each(['begun', 'handled', 'settled', 'committed'])(
    'a request is answered once when the process that handles it is killed at the step "%s"',
    async (step) => {
      await using both = await twoDatabases();
      const { db, other, till, sums } = both;
      const accident = { step, nth: 1, signal: 'SIGKILL' } as const;
      await using victim = await start({ ...sums, name: 'victim', accident });
      await using asker = await start({ ...till, name: 'till', asks: [1, 2, 3] });
      expect(await victim.ended).toBe('SIGKILL');
      await endLeases(other.pool);
      await using survivor = createSums({ ...sums, name: 'survivor' });
      await survivor.start();
      expect(await asker.ended).toBe(0);
      const { rows } = await db.pool.query('select n, twice from answers order by n');
      expect(rows).toEqual([1, 2, 3].map((n) => ({ n, twice: 2 * n })));
      expect((await other.pool.query('select n from doubled')).rows).toHaveLength(3);
    },
  );

  it('the answer to a process that was killed is dropped, and nothing is left of its request', async () => {
    await using both = await twoDatabases();
    const { db, other, till, sums } = both;
    await using asker = await start({ ...till, name: 'till', asks: [7] });
    // The command is noted before it is sent.
    await eventually(async () => {
      const waiting = [db.pool.query('select 1 from wh_outbox'), other.pool.query('select 1 from wh_inbox')];
      expect((await Promise.all(waiting)).flatMap(({ rows }) => rows)).toHaveLength(1);
    });
    asker.signal('SIGKILL');
    await asker.ended;
    await using adder = createSums({ ...sums, name: 'sums' });
    await using survivor = createTill(till);
    await adder.start();
    await survivor.start();
    await db.pool.query(
      `update wh_service_instances set last_heartbeat_at = now() - interval '1 hour' where instance_id <> $1`,
      [survivor.coordinator.instance.instanceId],
    );
    await eventually(async () => {
      expect((await other.pool.query('select n from doubled')).rows).toEqual([{ n: 7 }]);
      expect([...(await left(db)), ...(await left(other))]).toEqual([]);
    });
  });
});
