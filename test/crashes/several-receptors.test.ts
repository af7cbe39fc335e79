import { describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import type { Accident } from './support/accident.js';
import { callWith } from './support/call-with.js';
import { endLeases } from './support/end-leases.js';
import { startLossyProxy } from './support/lossy-proxy.js';
import { Orders } from './support/orders.js';
import type { Plan } from './support/plan.js';
import { startProcess } from './support/process.js';
import { createShop, longLeases } from './support/shop.js';

const noting = ['note', 'ship', 'bill'];

type Behaviour = Pick<Plan, 'failing' | 'loose'>;

/** One at a time, so that the n-th of a step is the n-th of the first event. */
async function withAccident(
  db: TestDatabase,
  { step, nth, signal }: Pick<Accident, 'step' | 'nth' | 'signal'>,
  { streams = 3, ...behaviour }: Behaviour & { streams?: number } = {},
) {
  const orders = await Orders.of(db.pool, streams, db.pool, ['place', ...noting]);
  const accident = { type: 'OrderPlaced', step, nth, signal };
  const victim = await startProcess({
    connectionString: db.connectionString,
    name: 'victim',
    concurrency: 1,
    noting,
    ...behaviour,
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

const heir = (db: TestDatabase, behaviour: Behaviour = {}) =>
  createShop({ connectionString: db.connectionString }, { name: 'heir', noting, ...behaviour });

/** How many attempts of the receptor have failed, of each event. */
async function failuresOf(db: TestDatabase, name: string): Promise<readonly number[]> {
  const { rows } = await db.pool.query<{ attempts: number }>(
    'select attempts from wh_receptor_processing where receptor_name = $1',
    [name],
  );
  return rows.map(({ attempts }) => attempts);
}

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
      const { orders, victim } = await withAccident(db, { step, nth, signal: 'SIGKILL' });
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

describe.concurrent('A process that is killed while an event is handled of which one receptor fails at first', () => {
  const failing = { failing: ['note'] };

  it.each([
    { step: 'begun', nth: 1, when: 'before the first fails', done: [] },
    { step: 'starting', nth: 2, when: 'when the first has failed', done: [] },
    { step: 'handled', nth: 1, when: 'when the second has run', done: [] },
    { step: 'settled', nth: 1, when: 'before the second is committed', done: [] },
    { step: 'committed', nth: 1, when: 'when the second is done', done: ['ship'] },
    { step: 'settled', nth: 2, when: 'before the third is committed', done: ['ship'] },
    { step: 'committed', nth: 2, when: 'when the third is done', done: ['ship', 'bill'] },
    { step: 'failing', nth: 1, when: 'before the failure is reported', done: ['ship', 'bill'] },
    { step: 'failed', nth: 1, when: 'when the failure is reported', done: ['ship', 'bill'] },
    { step: 'begun', nth: 4, when: 'when the first is tried again', done: ['ship', 'bill'] },
    { step: 'settled', nth: 3, when: 'before the retry is committed', done: ['ship', 'bill'] },
    { step: 'committed', nth: 3, when: 'when the retry is done', done: ['ship', 'bill', 'note'] },
  ])(
    'a process killed $when leaves the event to another one, and each receptor takes effect once',
    async ({ step, nth, done }) => {
      await using db = await createTestDatabase();
      const accident = { step, nth, signal: 'SIGKILL' } as const;
      const { orders, victim } = await withAccident(db, accident, { ...failing, streams: 1 });
      await using _victim = victim;
      expect(await victim.ended).toBe('SIGKILL');
      expect(await notedBy(orders, 'victim')).toEqual(done);
      await endLeases(db.pool);
      await using shop = heir(db, failing);
      await shop.start();
      await orders.expectFaultless();
      expect(await failuresOf(db, 'note')).toEqual([1, 1, 1]);
    },
  );

  it.each([
    { step: 'handled', nth: 1, when: 'when the second, without a transaction, has run' },
    { step: 'begun', nth: 2, when: 'when the third has begun' },
    { step: 'committed', nth: 1, when: 'when the third is done' },
    { step: 'failing', nth: 1, when: 'before the failure is reported' },
    { step: 'failed', nth: 1, when: 'when the failure is reported' },
  ])(
    'a process killed $when leaves the event to another one, and what was sent leaves once',
    async ({ step, nth }) => {
      await using db = await createTestDatabase();
      const behaviour = { ...failing, loose: ['ship'] };
      const accident = { step, nth, signal: 'SIGKILL' } as const;
      const { orders, victim } = await withAccident(db, accident, { ...behaviour, streams: 1 });
      await using _victim = victim;
      expect(await victim.ended).toBe('SIGKILL');
      await endLeases(db.pool);
      await using shop = heir(db, behaviour);
      await shop.start();
      await orders.expectFaultless();
    },
  );
});

describe.concurrent('A process that stands still between two receptors of one event', () => {
  it.each([
    { step: 'committed', nth: 1, failing: [] },
    { step: 'settled', nth: 2, failing: [] },
    { step: 'starting', nth: 2, failing: ['note'] },
    { step: 'failing', nth: 1, failing: ['note'] },
  ])(
    'a process that stands still at $step $nth, with failing receptors $failing, changes nothing when it comes back',
    async ({ step, nth, failing }) => {
      await using db = await createTestDatabase();
      const accident = { step, nth, signal: 'SIGSTOP' } as const;
      const { orders, victim } = await withAccident(db, accident, { failing });
      await using _victim = victim;
      await victim.untilStopped();
      await using shop = heir(db, { failing });
      await shop.start();
      await orders.expectFaultless(); // while it stands still
      const before = await failuresOf(db, 'note');
      victim.signal('SIGCONT');
      await orders.place(2);
      await orders.expectFaultless();
      victim.signal('SIGTERM');
      expect(await victim.ended).toBe(0);
      await orders.expectFaultless();
      expect((await failuresOf(db, 'note')).slice(0, before.length)).toEqual(before);
    },
  );
});

describe.concurrent('A connection that is cut while one receptor of an event fails at first', () => {
  const failureReport = callWith('inboxFailures', 'receptorFailures');
  const completion = callWith('receptorCompletions', 'renewInboxLeaseIds');

  it.each([
    ['at the report of the failure, losing its answer', 'loseAnswer', failureReport],
    ['at the report of the failure, losing its question', 'loseQuestion', failureReport],
    ['at the completion of another one, losing its answer', 'loseAnswer', completion],
    ['at the completion of another one, losing its question', 'loseQuestion', completion],
  ] as const)(
    'a connection cut %s leaves the failure counted once, and each receptor takes effect once',
    async (_, lose, statement) => {
      await using db = await createTestDatabase();
      await using proxy = await startLossyProxy(db.connectionString);
      await using shop = createShop(
        { connectionString: proxy.connectionString, concurrency: 1, ...longLeases },
        { noting, failing: ['note'] },
      );
      await shop.start();
      const orders = await Orders.of(db.pool, 1, db.pool, ['place', ...noting]);
      const cut = proxy[lose](statement);
      await orders.place(3);
      await cut;
      await endLeases(db.pool); // of what was handed out with the answer
      await orders.expectFaultless();
      expect(await failuresOf(db, 'note')).toEqual([1, 1, 1]);
    },
  );
});
