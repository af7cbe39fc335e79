import { it } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { Orders } from './support/orders.js';
import { createShop } from './support/shop.js';

it('messages sent to a service before its first start are handled when it starts', async () => {
  await using db = await createTestDatabase();
  const orders = await Orders.of(db.pool, 3);
  await orders.place(2);
  await using shop = createShop({ connectionString: db.connectionString });
  await shop.start();
  await orders.expectFaultless();
});
