import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { callWith } from './support/call-with.js';
import { type Silence, startLossyProxy } from './support/lossy-proxy.js';
import { Orders } from './support/orders.js';
import { createShop, PlaceOrder } from './support/shop.js';

/** One place, so that who keeps it keeps all streams. One attempt: what uses one up without being at fault is a dead letter. */
const strict = { concurrency: 1, retry: { attempts: 1 }, leaseSeconds: 3, stopSeconds: 1 };

const insert = /^insert into effects/;
const completion = callWith('inboxCompletions', 'newOutboxMessages');
const commit = /^commit/;

type Moment = readonly [string, RegExp, Silence['loses']];

const moments: readonly Moment[] = [
  ['at a statement of it, which is lost', insert, 'question'],
  ['at its completion, which is lost', completion, 'question'],
  ['at its completion, whose answer is lost', completion, 'answer'],
  ['at its commit, which is lost', commit, 'question'],
  ['at its commit, whose answer is lost', commit, 'answer'],
];
const more: readonly Moment[] = [
  ['at its begin', /^begin/, 'question'],
  ['in the middle of a statement of it', insert, 'middle'],
  ['at a statement of it, whose answer is lost', insert, 'answer'],
  ['in the middle of its completion', completion, 'middle'],
];

describe.concurrent('A receptor whose connection falls silent', () => {
  async function expectThatItGoesOn(statement: RegExp, silence: Silence): Promise<void> {
    await using db = await createTestDatabase();
    await using proxy = await startLossyProxy(db.connectionString);
    const orders = await Orders.of(db.pool, 2);
    await using shop = createShop({ ...strict, connectionString: proxy.connectionString });
    await shop.start();
    const silent = proxy.silenceAt(statement, silence);
    await orders.place(3);
    await silent;
    await orders.expectFaultless();
    expect(shop.readiness.database).toBe(true);
  }

  it.each([...moments, ...more])(
    'all streams go on when the connection of a receptor falls silent %s',
    async (_, statement, loses) => expectThatItGoesOn(statement, { loses, on: 'its connection' }),
  );

  it.each(moments)(
    'a receptor goes on over new connections when all fall silent %s',
    async (_, statement, loses) => expectThatItGoesOn(statement, { loses, on: 'all connections' }),
  );

  it.each(moments)(
    'a second instance goes on when all connections of a receptor’s instance fall silent %s',
    async (_, statement, loses) => {
      await using db = await createTestDatabase();
      await using proxy = await startLossyProxy(db.connectionString);
      const orders = await Orders.of(db.pool, 2);
      await using first = createShop({ ...strict, connectionString: proxy.connectionString });
      await first.start();
      const silence = proxy.silenceAt(statement, { loses, on: 'all connections' });
      await orders.place(3);
      await silence; // the first has claimed what is behind it
      const second = createShop({ ...strict, connectionString: db.connectionString }, { name: 'second' });
      await second.start();
      await orders.expectFaultless();
      await second.stop();
      await orders.place(1);
      await orders.expectFaultless();
    },
  );

  it('a receptor whose connection falls silent at each begin uses up no attempt', async () => {
    await using db = await createTestDatabase();
    await using proxy = await startLossyProxy(db.connectionString);
    const orders = await Orders.of(db.pool, 1);
    await using shop = createShop({ ...strict, connectionString: proxy.connectionString });
    await shop.start();
    const atBegin = async () => proxy.silenceAt(/^begin/, { loses: 'question', on: 'its connection' });
    const first = atBegin();
    await orders.place(1);
    await first;
    for (let times = 1; times < 5; times++) await atBegin();
    await orders.expectFaultless();
  });

  it('a pool can be ended after the connection of a receptor fell silent', async () => {
    await using db = await createTestDatabase();
    await using proxy = await startLossyProxy(db.connectionString);
    const orders = await Orders.of(db.pool, 1);
    const pool = new pg.Pool({ connectionString: proxy.connectionString, max: 5 });
    const shop = createShop({ ...strict, pool });
    await shop.start();
    const silent = proxy.silenceAt(insert, { loses: 'question', on: 'its connection' });
    await orders.place(2);
    await silent;
    await orders.expectFaultless();
    await shop.stop();
    await pool.end();
  });

  it('invoke rejects with CONNECTION_LOST when the connection of its receptor falls silent', async () => {
    await using db = await createTestDatabase();
    await using proxy = await startLossyProxy(db.connectionString);
    await Orders.of(db.pool, 1);
    await using shop = createShop({ ...strict, connectionString: proxy.connectionString });
    void proxy.silenceAt(insert, { loses: 'question', on: 'its connection' });
    const invoked = shop.invoke(PlaceOrder({ orderId: 'order-0', step: 1 }));
    await expect(invoked).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
  });
});
