// Several instances of a service, of which one at a time is told of what is stored. Polls and takeovers are put off for as long
// as a test may take: whatever arrives was passed on. As much is prefetched as runs: nothing waits behind what does not end.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Queryable } from '../../src/database/index.js';
import { inProcessTransport, receptor, type Whizbang, type WhizbangOptions } from '../../src/index.js';
import { askWithin } from '../support/ask-within.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { arrive } from './arrivals.js';
import { OrderPlaced, service } from './service.js';

let db: TestDatabase;
const started: Whizbang[] = [];
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(async () => {
  for (const each of started.splice(0)) await each.stop();
  await db.drop();
});

const patient = { pollIntervalMs: 60_000, takeoverSeconds: 3600, stopSeconds: 1 } as const;

/** Idle, and asleep or covered: whatever is stored now has to wake one of them. */
async function start(options: Partial<WhizbangOptions>): Promise<Whizbang> {
  const shop = service<Queryable>(db, { ...patient, transport: inProcessTransport(), ...options });
  started.push(shop);
  await shop.start();
  return shop;
}

const sleepers = async () => {
  const { count } = await askWithin<{ count: number }>(
    db,
    'select (wh_watch_session() is not null)::int + cardinality(wh_sleeping_sessions()) as count',
  );
  return count;
};
const sleeper = async () =>
  (await askWithin<{ pid: number | null }>(db, 'select wh_watch_session() as pid')).pid;
/** Covered, or keeping the watch: who is not able passes it on also when it polls, and then sleeps no more. */
const somebodyElseSleeps = async (pid: number | null) => {
  const { sleeps } = await askWithin<{ sleeps: boolean }>(
    db,
    'select cardinality(wh_sleeping_sessions()) > 0 or coalesce(wh_watch_session() <> $1, false) as sleeps',
    [pid],
  );
  return sleeps;
};
const allAsleep = (count: number) => eventually(async () => expect(await sleepers()).toBe(count));

describe('Of three instances', () => {
  it('a message wakes an instance with a free place, whichever instance owns it', async () => {
    const running = new Set<string>();
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const onPlaced = receptor(OrderPlaced, { transaction: false }, async ({ orderId }) => {
      running.add(orderId);
      await released;
    });
    for (let i = 0; i < 3; i++) await start({ receptors: [onPlaced], concurrency: 1, prefetch: 1 });
    await allAsleep(3);
    for (const orderId of ['a', 'b', 'c']) {
      await arrive(db, 'OrderPlaced', { orderId });
      await eventually(() => expect([...running]).toContain(orderId));
    }
    release();
  });

  it('three instances run all that arrives at once', async () => {
    const running = new Set<string>();
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const onPlaced = receptor(OrderPlaced, { transaction: false }, async ({ orderId }) => {
      running.add(orderId);
      await released;
    });
    for (let i = 0; i < 3; i++) await start({ receptors: [onPlaced], concurrency: 2, prefetch: 2 });
    await allAsleep(3);
    for (let i = 0; i < 6; i++) await arrive(db, 'OrderPlaced', { orderId: `o${i}` });
    await eventually(() => expect(running.size).toBe(6));
    release();
  });

  it('another instance watches for messages when the one that watches stops', async () => {
    const handled: string[] = [];
    const onPlaced = receptor(OrderPlaced, ({ orderId }) => void handled.push(orderId));
    for (let i = 0; i < 3; i++) await start({ receptors: [onPlaced] });
    for (let left = 3; left > 0; left--) {
      await allAsleep(left);
      await arrive(db, 'OrderPlaced', { orderId: `with ${left}` });
      await eventually(() => expect(handled).toContain(`with ${left}`));
      await allAsleep(left);
      await started.shift()?.stop();
    }
  });
});

describe('An instance without receptors', () => {
  it('an instance without receptors that watches passes on what arrives in the inbox', async () => {
    const handled: string[] = [];
    await start({ receptors: [] });
    await allAsleep(1);
    const watch = await sleeper();
    const onPlaced = receptor(OrderPlaced, ({ orderId }) => void handled.push(orderId));
    await start({ receptors: [onPlaced] });
    await eventually(async () => expect(await somebodyElseSleeps(watch)).toBe(true));
    for (const orderId of ['a', 'b', 'c']) {
      await arrive(db, 'OrderPlaced', { orderId });
      await eventually(() => expect(handled).toContain(orderId));
    }
  });
});

describe('While a transaction is open that has stored something', () => {
  it('messages are handled while a transaction that has stored another is still open', async () => {
    const handled: string[] = [];
    const onPlaced = receptor(OrderPlaced, ({ orderId }) => void handled.push(orderId));
    const client = await db.connect();
    await client.query('begin');
    await client.query(
      `insert into wh_inbox (message_id, handler_name, event_type, event_data)
       values (gen_random_uuid(), 'OrderPlaced', 'OrderPlaced', '{"orderId": "late"}')`,
    );
    for (let i = 0; i < 2; i++) await start({ receptors: [onPlaced] });
    await arrive(db, 'OrderPlaced', { orderId: 'in time' });
    await eventually(() => expect(handled).toEqual(['in time']));
    await client.query('commit');
    await eventually(() => expect(handled).toEqual(['in time', 'late']));
    await client.end();
  });
});
