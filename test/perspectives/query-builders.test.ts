// The view of a perspective in query builders: what the guide shows, compiled and run.
import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { bigint, integer, jsonb, pgView, text, uuid } from 'drizzle-orm/pg-core';
import { Kysely, PostgresDialect } from 'kysely';
import { expect, expectTypeOf, it } from 'vitest';
import { streamIdOf } from '../../src/index.js';
import { paid, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { orders } from './support/orders.js';

it('the view of a perspective is queried with Kysely and Drizzle, with the types of its columns', async () => {
  await using db = await createTestDatabase();
  await using shop = service(db, { perspectives: [orders] });
  await shop.start();
  const receipt = await shop.events.append([placed('a', 5), paid('a', 5), placed('b', 7)]);
  await shop.model(orders).waitFor(receipt, { timeoutSeconds: 60 });

  interface Tables {
    orders: { id: string; version: string; customer: string; status: 'placed' | 'paid'; cents: number };
  }
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: db.pool }) });
  const found = await kysely
    .selectFrom('orders')
    .select(['id', 'cents'])
    .where('customer', '=', 'Ada')
    .where('status', '=', 'paid')
    .execute();
  expectTypeOf(found).toEqualTypeOf<{ id: string; cents: number }[]>();
  expect(found).toEqual([{ id: streamIdOf('a'), cents: 5 }]);

  const view = pgView('orders', {
    id: uuid().notNull(),
    data: jsonb().$type<{ customer: string; cents: number; status: 'placed' | 'paid' }>().notNull(),
    version: bigint({ mode: 'number' }).notNull(),
    status: text().notNull(),
    cents: integer().notNull(),
  }).existing();
  const rows = await drizzle(db.pool)
    .select({ id: view.id, data: view.data, version: view.version })
    .from(view)
    .where(eq(view.status, 'placed'));
  expectTypeOf(rows[0]?.data.cents).toEqualTypeOf<number | undefined>();
  expect(rows).toEqual([
    { id: streamIdOf('b'), data: { customer: 'Ada', cents: 7, status: 'placed' }, version: 1 },
  ]);
});
