import { describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { Orders } from './support/orders.js';
import { startProcess } from './support/process.js';
import { createShop } from './support/shop.js';

/** Stopped in the middle of a message of one stream, with a lease on all that it holds of the others. */
async function stalledAt(db: TestDatabase, step: string) {
  const { connectionString } = db;
  const orders = await Orders.of(db.pool, 3);
  const stalled = await startProcess({
    connectionString,
    name: 'stalled',
    concurrency: 1,
    accident: { step, nth: 2, signal: 'SIGSTOP' },
  });
  await orders.place(4);
  await stalled.untilStopped();
  const other = createShop({ connectionString }, { name: 'other' });
  await other.start();
  return { orders, stalled, other };
}

describe.concurrent('A process that is stopped for longer than its lease', () => {
  it.each(['begun', 'handled', 'settled'])(
    'messages of a process stopped at the step "%s" beyond its lease are handled by others, once',
    async (step) => {
      await using db = await createTestDatabase();
      const { orders, stalled, other } = await stalledAt(db, step);
      await using _stalled = stalled;
      await using _other = other;
      await orders.expectFaultless(); // while it is stopped
      stalled.signal('SIGCONT');
      await orders.place(2);
      await orders.expectFaultless();
      stalled.signal('SIGTERM');
      expect(await stalled.ended).toBe(0);
      await orders.expectFaultless();
    },
  );

  it('a process stopped before its commit loses its stream though idle transactions may last an hour', async () => {
    await using db = await createTestDatabase();
    await db.pool.query(`alter database ${db.name} set idle_in_transaction_session_timeout = '1h'`);
    const { orders, stalled, other } = await stalledAt(db, 'settled');
    await using _stalled = stalled;
    await using _other = other;
    await orders.expectFaultless(); // while it is stopped
    stalled.signal('SIGCONT');
    await orders.place(2);
    await orders.expectFaultless();
  });
});
