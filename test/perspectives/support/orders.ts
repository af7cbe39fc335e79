// Perspectives over the events of orders, and how the tests read their models.
import { z } from 'zod';
import { keyedPerspective, perspective } from '../../../src/index.js';
import { OrderCancelled, OrderPaid, OrderPlaced } from '../../events/shop.js';
import type { TestDatabase } from '../../support/database.js';

export const orders = perspective('orders', {
  model: z.object({ customer: z.string(), cents: z.number(), status: z.enum(['placed', 'paid']) }),
  columns: { customer: 'text', status: 'text', cents: 'int' },
  indexes: [['customer', 'status']],
})
  .starts(OrderPlaced, ({ customer, cents }) => ({ customer, cents, status: 'placed' }))
  .on(OrderPaid, (order) => ({ ...order, status: 'paid' }))
  .ends(OrderCancelled);

export const revenue = keyedPerspective('revenue', {
  model: z.object({ orders: z.number(), cents: z.number() }),
  initial: { orders: 0, cents: 0 },
}).on(
  OrderPaid,
  ({ paidAt }) => paidAt.toISOString().slice(0, 10),
  (day, { cents }) => ({ orders: day.orders + 1, cents: day.cents + cents }),
);

/** The rows of a view, by id. */
export async function rowsOf<Row = Record<string, unknown>>(db: TestDatabase, view: string): Promise<Row[]> {
  return (await db.pool.query(`select * from ${view} order by id`)).rows as Row[];
}
