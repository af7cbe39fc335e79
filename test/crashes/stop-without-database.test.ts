import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { startLossyProxy } from './support/lossy-proxy.js';
import { Orders } from './support/orders.js';
import { startProcess } from './support/process.js';
import { createShop } from './support/shop.js';

describe.concurrent('Stopping in the middle of the work without PostgreSQL', () => {
  it('an instance that stops while PostgreSQL is down exits, and another goes on', async () => {
    await using db = await createTestDatabase();
    const orders = await Orders.of(db.pool, 4);
    const proxy = await startLossyProxy(db.connectionString);
    const { connectionString } = proxy;
    await using first = await startProcess({ connectionString, name: 'first', handlerMs: 20 });
    await orders.place(10);
    await orders.untilHandled(10);
    await proxy[Symbol.asyncDispose]();
    first.signal('SIGTERM');
    expect(await first.ended).toBe(0);
    await using second = createShop({ connectionString: db.connectionString });
    await second.start();
    await orders.expectFaultless();
  });

  it('an instance that stops while PostgreSQL answers nothing ends, and another goes on', async () => {
    await using db = await createTestDatabase();
    await using proxy = await startLossyProxy(db.connectionString);
    const orders = await Orders.of(db.pool, 4);
    const first = createShop({ connectionString: proxy.connectionString }, { handlerMs: 20 });
    await first.start();
    await orders.place(10);
    await orders.untilHandled(10);
    proxy.swallowNew();
    proxy.fallSilent();
    await first.stop({ seconds: 1 });
    await using second = createShop({ connectionString: db.connectionString });
    await second.start();
    await orders.expectFaultless();
  });
});
