// Accidents of those who append and decide: killed, cut off, or with a connection that falls silent.
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { decider, receptor, type Whizbang } from '../../src/index.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { type Silence, startLossyProxy } from './support/lossy-proxy.js';
import { Orders } from './support/orders.js';
import { startProcess } from './support/process.js';
import { OrderPlaced, PlaceOrder, shortLeases } from './support/shop.js';

const orderId = 'order-0';
const placed = (step: number) => OrderPlaced({ orderId, step });
/** The steps of the order, as they came. */
const Order = decider('Order', { initial: [] as readonly number[] }).on(OrderPlaced, (steps, { step }) => [
  ...steps,
  step,
]);

/** What the store holds: id, version and step of each event. */
async function stored(db: TestDatabase) {
  const text = `select event_id as "eventId", version::int, (event_data ->> 'step')::int as step from wh_event_store order by version`;
  return (await db.pool.query(text)).rows as { eventId: string; version: number; step: number }[];
}

async function expectSteps(db: TestDatabase, shop: Whizbang, steps: readonly number[]): Promise<void> {
  expect((await stored(db)).map(({ version, step }) => [version, step])).toEqual(
    steps.map((step, i) => [i + 1, step]),
  );
  expect(await shop.events.load(Order, orderId)).toEqual({ state: steps, version: steps.length });
}

describe.concurrent('A process that is killed while it appends', () => {
  it.each([
    { step: 'appended', inTransaction: true, isThere: false },
    { step: 'committed', inTransaction: true, isThere: true },
    { step: 'appending', inTransaction: false, isThere: false },
    { step: 'appended', inTransaction: false, isThere: true },
  ])(
    'a process killed at the step $step (in a transaction: $inTransaction) has appended all or nothing',
    async ({ step, inTransaction, isThere }) => {
      await using db = await createTestDatabase();
      await using shop = service(db);
      await using victim = await startProcess({
        connectionString: db.connectionString,
        role: 'till',
        appends: { events: 3, inTransaction },
        accident: { step, nth: 1, signal: 'SIGKILL' },
      });
      expect(await victim.ended).toBe('SIGKILL');
      const before = isThere ? [1, 2, 3] : [];
      // If the server has not noticed the end of the victim yet, this waits for it.
      await shop.events.append(placed(9), { expectedVersion: before.length });
      await expectSteps(db, shop, [...before, 9]);
    },
  );
});

describe.concurrent('An append over a connection that is cut', () => {
  it.each(['answer', 'question'] as const)(
    'an append that loses its %s is sent again by itself, and its receipts are of what is stored, once',
    async (what) => {
      await using db = await createTestDatabase();
      await using proxy = await startLossyProxy(db.connectionString);
      await using shop = service(db, { connectionString: proxy.connectionString });
      const cut = what === 'answer' ? proxy.loseAnswer(/wh_append/) : proxy.loseQuestion(/wh_append/);
      const { receipts } = await shop.events.append([placed(1), placed(2)], { expectedVersion: 0 });
      await cut;
      expect(receipts).toMatchObject(
        (await stored(db)).map(({ eventId, version }) => ({ eventId, version })),
      );
      await expectSteps(db, shop, [1, 2]);
    },
  );

  it.each(['answer', 'question'] as const)(
    'a decision whose append loses its %s is made once and stored once',
    async (what) => {
      await using db = await createTestDatabase();
      await using proxy = await startLossyProxy(db.connectionString);
      await using shop = service(db, { connectionString: proxy.connectionString });
      await shop.events.append(placed(1));
      const cut = what === 'answer' ? proxy.loseAnswer(/wh_append/) : proxy.loseQuestion(/wh_append/);
      let calls = 0;
      const receipt = await shop.events.decide(Order, orderId, (steps) => {
        calls++;
        return placed(steps.length + 1);
      });
      await cut;
      expect(calls).toBe(1);
      expect(receipt).toMatchObject({ version: 2, receipts: [{ version: 2 }] });
      await expectSteps(db, shop, [1, 2]);
    },
  );
});

const moments: readonly (readonly [RegExp, Silence['loses'], isThere: boolean])[] = [
  [/wh_lock_stream/, 'question', false],
  [/wh_lock_stream/, 'answer', false],
  [/wh_load_stream/, 'answer', false],
  [/wh_append/, 'question', false],
  [/wh_append/, 'answer', false],
  [/^commit/, 'question', false],
  [/^commit/, 'answer', true],
];

describe.concurrent('A decision over a connection that falls silent', () => {
  it.each(moments)(
    'a decision in a transaction that falls silent at %s (lost: %s) holds if committed, and others go on',
    async (statement, loses, isThere) => {
      await using db = await createTestDatabase();
      await using proxy = await startLossyProxy(db.connectionString);
      await using shop = service(db);
      await shop.events.append(placed(1));
      // As a careful application has it: neither side waits for ever.
      const client = new pg.Client({ connectionString: proxy.connectionString, query_timeout: 3_000 });
      client.on('error', () => {});
      await client.connect();
      await client.query('begin');
      await client.query(`set local idle_in_transaction_session_timeout = '3s'`);
      const silence = proxy.silenceAt(statement, { loses, on: 'its connection' });
      const decide = (tx?: object) =>
        shop.events.decide(
          Order,
          orderId,
          (steps) => placed(steps.length + 1),
          tx === undefined ? {} : { tx },
        );
      const silent = decide(client).then(() => client.query('commit'));
      silent.catch(() => {});
      await silence;
      await decide();
      await expect(silent).rejects.toThrow(/timeout|did not answer|connection/i);
      await expectSteps(db, shop, isThere ? [1, 2, 3] : [1, 2]);
      client.end().catch(() => {});
    },
  );

  it.each(['question', 'answer'] as const)(
    'a receptor whose connection falls silent at its decision (lost: %s) is run again and decides once',
    async (loses) => {
      await using db = await createTestDatabase();
      await using proxy = await startLossyProxy(db.connectionString);
      const decideOnce = receptor(PlaceOrder, async ({ step }, ctx) => {
        await ctx.decide(Order, orderId, (steps) => (steps.includes(step) ? [] : placed(step)));
      });
      await using shop = service(db, {
        connectionString: proxy.connectionString,
        receptors: [decideOnce],
        ...shortLeases,
        concurrency: 1,
        leaseSeconds: 3,
        stopSeconds: 1,
      });
      await shop.start();
      const silence = proxy.silenceAt(/wh_append/, { loses, on: 'its connection' });
      await (await Orders.of(db.pool, 1)).place(3);
      await silence;
      await eventually(
        async () => expect((await db.pool.query('select from wh_inbox')).rowCount).toBe(0),
        30_000,
      );
      await expectSteps(db, shop, [1, 2, 3]);
    },
  );
});
