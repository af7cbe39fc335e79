// Builds of perspectives, as the tests see them.
import { z } from 'zod';
import { keyedPerspective, perspective } from '../../../src/index.js';
import { OrderPaid, OrderPlaced } from '../../events/shop.js';
import type { TestDatabase } from '../../support/database.js';

/** Version 2 of `orders`: one column more, and another status. */
export const orders2 = perspective('orders', {
  model: z.object({ customer: z.string(), cents: z.number(), status: z.string(), euros: z.number() }),
  columns: { customer: 'text', status: 'text', euros: 'numeric' },
  version: 2,
})
  .starts(OrderPlaced, ({ customer, cents }) => ({ customer, cents, euros: cents / 100, status: 'open' }))
  .on(OrderPaid, (order) => ({ ...order, status: 'done' }));

/** What was paid, in its order: a reducer that does not commute. */
export const ledger = keyedPerspective('ledger', {
  model: z.object({ hash: z.number(), orders: z.array(z.string()) }),
  initial: { hash: 7, orders: [] },
}).on(
  OrderPaid,
  ({ cents }) => [`k${cents % 3}`, 'all'],
  ({ hash, orders }, { orderId, cents }) => ({
    hash: (hash * 31 + cents) % 1_000_003,
    orders: [...orders, orderId].slice(-20),
  }),
);

/** Every build with its state, by name. */
export async function buildsOf(db: TestDatabase, base: string): Promise<Record<string, string>> {
  const { rows } = await db.pool.query<{ name: string; state: string }>(
    'select name, state from wh_perspectives where base_name = $1 order by name',
    [base],
  );
  return Object.fromEntries(rows.map(({ name, state }) => [name, state]));
}

/** A digest of all models of a table. */
export async function digestOf(db: TestDatabase, table: string): Promise<string> {
  const { rows } = await db.pool.query<{ digest: string }>(
    `select coalesce(md5(string_agg(format('%s %s %s', m.id, m.version, m.data), E'\\n' order by m.id)), '') as digest from ${table} m`,
  );
  return rows[0]?.digest ?? '';
}
