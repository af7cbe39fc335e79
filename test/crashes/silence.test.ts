import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/logger.js';
import { createTestDatabase } from '../support/database.js';
import { startLossyProxy } from './support/lossy-proxy.js';
import { Orders } from './support/orders.js';
import { createShop } from './support/shop.js';

describe.concurrent('Connections over which nothing comes any more, without an end', () => {
  it('an instance gives up silent connections and goes on over new ones', async () => {
    await using db = await createTestDatabase();
    await using proxy = await startLossyProxy(db.connectionString);
    const orders = await Orders.of(db.pool, 2);
    await using shop = createShop({ connectionString: proxy.connectionString, stopSeconds: 1 });
    await shop.start();
    await orders.place(2);
    await orders.expectFaultless();
    proxy.fallSilent();
    await orders.place(2);
    await orders.expectFaultless();
    expect(shop.readiness.database).toBe(true);
  });

  it('an instance gives up the silent idle connections of its pool together', async () => {
    await using db = await createTestDatabase();
    await using proxy = await startLossyProxy(db.connectionString);
    const orders = await Orders.of(db.pool, 4);
    const warnings: unknown[] = [];
    await using shop = createShop({
      connectionString: proxy.connectionString,
      listen: false,
      stopSeconds: 1,
      logger: { ...silentLogger, warn: (facts) => warnings.push(facts) },
    });
    await shop.start();
    await orders.place(4);
    await orders.expectFaultless();
    proxy.fallSilent();
    await orders.place(1);
    await orders.expectFaultless();
    // The instance's own call. No receptor has got one of the others.
    const receptors = warnings.filter((facts) => (facts as { messageId?: string }).messageId !== undefined);
    expect(receptors).toEqual([]);
  });

  it('an instance gives up connections that were opened while the network was down', async () => {
    await using db = await createTestDatabase();
    await using proxy = await startLossyProxy(db.connectionString);
    const orders = await Orders.of(db.pool, 2);
    await using shop = createShop({
      connectionString: proxy.connectionString,
      listen: false,
      stopSeconds: 1,
    });
    await shop.start();
    await orders.place(2);
    await orders.expectFaultless();
    const outage = proxy.swallowNew();
    proxy.fallSilent();
    await orders.place(2);
    await outage.tried(1);
    outage.end();
    await orders.expectFaultless();
    expect(shop.readiness.database).toBe(true);
  });
});
