import { describe, it } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { Orders } from './support/orders.js';
import { createShop } from './support/shop.js';

describe('What was sent to a service before it was ever started', () => {
  it('is handled when it starts: it subscribes before it publishes', async () => {
    await using db = await createTestDatabase();
    const orders = await Orders.of(db.pool, 3);
    await orders.place(2);
    await using shop = createShop({ connectionString: db.connectionString });
    await shop.start();
    await orders.expectFaultless();
  });
});
