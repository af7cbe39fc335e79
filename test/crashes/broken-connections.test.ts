import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { callWith } from './support/call-with.js';
import { startLossyProxy } from './support/lossy-proxy.js';
import { Orders } from './support/orders.js';
import { createShop, PlaceOrder } from './support/shop.js';

/** One attempt each: what uses one up without being at fault shows as a dead letter. Leases that nothing outlasts. */
async function strictShop() {
  const db = await createTestDatabase();
  const proxy = await startLossyProxy(db.connectionString);
  const runs: number[] = [];
  const shop = createShop(
    {
      connectionString: proxy.connectionString,
      concurrency: 1,
      retry: { attempts: 1 },
      leaseSeconds: 15,
      renewSeconds: 5,
      staleThresholdSeconds: 30,
    },
    { onRun: (step) => runs.push(step) },
  );
  await shop.start();
  return {
    db,
    proxy,
    shop,
    runs,
    [Symbol.asyncDispose]: async () => {
      await shop.stop();
      await proxy[Symbol.asyncDispose]();
      await db.drop();
    },
  };
}

describe.concurrent('A handler whose connection breaks', () => {
  it.each([
    ['begin', /^begin/],
    ['insert into effects', /^insert into effects/],
    ['the completion', callWith('inboxCompletions', 'newOutboxMessages')],
    ['commit', /^commit/],
  ])(
    'a handler whose connection breaks at the statement "%s" is run again and uses up no attempt',
    async (_, statement) => {
      await using strict = await strictShop();
      const orders = await Orders.of(strict.db.pool, 1);
      const cut = strict.proxy.loseQuestion(statement);
      await orders.place(3);
      await cut;
      await orders.expectFaultless();
    },
  );

  it('a handler whose connection breaks every time uses up an attempt after four runs', async () => {
    await using strict = await strictShop();
    const { db, proxy, shop, runs } = strict;
    await Orders.of(db.pool, 1);
    await shop.send(PlaceOrder({ orderId: 'order-0', step: 1 }));
    let isOver = false;
    const breaking = (async () => {
      while (!isOver) await proxy.loseQuestion(/^insert into effects/);
    })();
    await eventually(async () => {
      const { rows } = await db.pool.query('select attempts from wh_dead_letters');
      expect(rows).toEqual([{ attempts: 1 }]);
    });
    expect(runs).toEqual([1, 1, 1, 1]);
    isOver = true;
    await shop.send(PlaceOrder({ orderId: 'order-0', step: 2 })); // the last loss
    await breaking;
  });
});
