import { describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { endLeases } from './support/end-leases.js';
import { Orders } from './support/orders.js';
import { startProcess } from './support/process.js';
import { createShop } from './support/shop.js';

const noting = ['note', 'ship', 'bill'];

/** In one stream at a time, so that the n-th of a step is of the n-th receptor of the first event. */
async function withAccident(db: TestDatabase, step: string, nth: number, signal: 'SIGKILL' | 'SIGSTOP') {
  const orders = await Orders.of(db.pool, 3, db.pool, ['place', ...noting]);
  const accident = { type: 'OrderPlaced', step, nth, signal };
  const victim = await startProcess({
    connectionString: db.connectionString,
    name: 'victim',
    concurrency: 1,
    noting,
    accident,
    leases: signal === 'SIGKILL' ? 'long' : 'short',
  });
  await orders.place(3);
  return { orders, victim };
}

async function notedBy(orders: Orders, name: string): Promise<readonly string[]> {
  const effects = await orders.effects();
  return effects
    .filter(({ instance, receptor }) => instance === name && receptor !== 'place')
    .map((e) => e.receptor);
}

const heir = (db: TestDatabase) =>
  createShop({ connectionString: db.connectionString }, { name: 'heir', noting });

describe.concurrent('A process that is killed between two receptors of one event', () => {
  it.each([
    { step: 'committed', nth: 1, done: ['note'] },
    { step: 'handled', nth: 2, done: ['note'] },
    { step: 'settled', nth: 2, done: ['note'] },
    { step: 'committed', nth: 2, done: ['note', 'ship'] },
    { step: 'settled', nth: 3, done: ['note', 'ship'] },
  ])(
    'each receptor of an event takes effect once when the process is killed at $step of receptor $nth',
    async ({ step, nth, done }) => {
      await using db = await createTestDatabase();
      const { orders, victim } = await withAccident(db, step, nth, 'SIGKILL');
      await using _victim = victim;
      expect(await victim.ended).toBe('SIGKILL');
      expect(await notedBy(orders, 'victim')).toEqual(done);
      await endLeases(db.pool);
      await using shop = heir(db);
      await shop.start();
      await orders.expectFaultless();
    },
  );
});

describe.concurrent('A process that stands still between two receptors of one event', () => {
  it.each([
    { step: 'committed', nth: 1 },
    { step: 'settled', nth: 2 },
  ])(
    'a process that stood still at $step of receptor $nth changes nothing when it comes back',
    async ({ step, nth }) => {
      await using db = await createTestDatabase();
      const { orders, victim } = await withAccident(db, step, nth, 'SIGSTOP');
      await using _victim = victim;
      await victim.untilStopped();
      await using shop = heir(db);
      await shop.start();
      await orders.expectFaultless(); // while it stands still
      victim.signal('SIGCONT');
      await orders.place(2);
      await orders.expectFaultless();
      victim.signal('SIGTERM');
      expect(await victim.ended).toBe(0);
      await orders.expectFaultless();
    },
  );
});
