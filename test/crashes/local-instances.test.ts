// What a killed process held is free when an instance on the same machine sees that the process is gone: with leases of two
// minutes, nobody waits for their end here.
import { describe, expect, it } from 'vitest';
import { machineName } from '../../src/runtime/machine.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { Orders } from './support/orders.js';
import { startProcess } from './support/process.js';

const machine = machineName();
const holders = async ({ pool }: TestDatabase) =>
  (
    await pool.query(
      `select distinct instance_id as id from wh_active_streams where lane = 'inbox' and lease_expiry > now()`,
    )
  ).rows as { id: string }[];

describe.skipIf(machine === undefined)('An instance whose process is gone', () => {
  it('a process that is killed leaves what it had prefetched to another on its machine, before its leases end', async () => {
    await using db = await createTestDatabase();
    const { connectionString } = db;
    const orders = await Orders.of(db.pool, 40);
    const plan = { connectionString, leases: 'long' as const, concurrency: 2 };
    await using one = await startProcess({ ...plan, name: 'one', handlerMs: 200 });
    await orders.place(3);
    await eventually(async () => expect(await holders(db)).toHaveLength(1));
    await using two = await startProcess({ ...plan, name: 'two' });
    one.signal('SIGKILL');
    await one.ended;
    await orders.expectFaultless();
    expect(two.hasEnded).toBe(false);
  });

  it('a process that is started again frees what the killed one before it has held', async () => {
    await using db = await createTestDatabase();
    const { connectionString } = db;
    const orders = await Orders.of(db.pool, 20);
    const plan = { connectionString, leases: 'long' as const, concurrency: 2 };
    await using one = await startProcess({ ...plan, name: 'one', handlerMs: 500 });
    await orders.place(2);
    await eventually(async () => expect(await holders(db)).toHaveLength(1));
    one.signal('SIGKILL');
    await one.ended;
    await using _ = await startProcess({ ...plan, name: 'two' });
    await orders.expectFaultless();
  });

  it('a process that stands still keeps its leases, as one on another machine does', async () => {
    await using db = await createTestDatabase();
    const { connectionString } = db;
    const orders = await Orders.of(db.pool, 4);
    await using one = await startProcess({
      connectionString,
      leases: 'long',
      name: 'one',
      handlerMs: 60_000,
    });
    await orders.place(1);
    await eventually(async () => expect(await holders(db)).toHaveLength(1));
    const [held] = await holders(db);
    one.signal('SIGSTOP');
    await one.untilStopped();
    const ended = async (of: string | undefined) =>
      (await db.pool.query('select wh_end_leases($1, $2) as streams', [held?.id, of])).rows[0]
        .streams as number;
    expect(await ended(machine)).toBe(null); // it has called a moment ago
    await db.pool.query(`update wh_service_instances set last_heartbeat_at = now() - interval '3 seconds'`);
    expect(await ended('another machine')).toBe(null);
    await using _two = await startProcess({ connectionString, leases: 'long', name: 'two' });
    await eventually(async () => {
      const { rows } = await db.pool.query(
        `select 1 from wh_service_instances where (facts ->> 'calls')::int > 3 and instance_id <> $1`,
        [held?.id],
      );
      expect(rows).toHaveLength(1);
    });
    expect(await holders(db)).toContainEqual(held);
    expect(await ended(machine)).toBe(4);
    expect(await holders(db)).not.toContainEqual(held);
  });
});
