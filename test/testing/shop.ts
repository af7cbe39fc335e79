// A small service for the tests of the kit: an order is placed, paid and counted.
import { inject } from 'vitest';
import { z } from 'zod';
import { defineCommand, defineEvent, receptor } from '../../src/index.js';
import { startTestKit, type TestKitOptions } from '../../src/testing/index.js';

export const OrderPlaced = defineEvent('OrderPlaced', {
  schema: z.object({ orderId: z.string(), total: z.number().default(0) }),
  stream: ({ orderId }) => orderId,
});

export const OrderPaid = defineEvent('OrderPaid', {
  schema: z.object({ orderId: z.string(), card: z.object({ brand: z.string(), digits: z.string() }) }),
  stream: ({ orderId }) => orderId,
});

export const ShipOrder = defineCommand('ShipOrder', {
  schema: z.object({ orderId: z.string() }),
  stream: ({ orderId }) => orderId,
  to: 'warehouse',
});

/** Counts how often it ran, and writes a row in its transaction. */
export function countingReceptor() {
  const runs: string[] = [];
  const onPlaced = receptor(OrderPlaced, async ({ orderId }, ctx) => {
    runs.push(orderId);
    await ctx.tx.query('insert into effects (order_id) values ($1)', [orderId]);
    return OrderPaid({ orderId, card: { brand: 'visa', digits: '42' } });
  });
  return { onPlaced, runs };
}

export async function prepareEffects({ pool }: { pool: { query(text: string): Promise<unknown> } }) {
  await pool.query('create table effects (order_id text not null)');
}

export const effectsIn = async (pool: { query(text: string): Promise<{ rows: unknown[] }> }) => {
  const { rows } = await pool.query('select order_id from effects order by order_id');
  return rows.map((row) => (row as { order_id: string }).order_id);
};

/** On the server of this test run, with the table, and with the patience of a busy machine. */
export async function startShop(options: Partial<TestKitOptions> = {}) {
  const kit = await startTestKit({
    service: 'shop',
    database: { connectionString: inject('serverUrl') },
    prepare: prepareEffects,
    ...options,
  });
  const long = { seconds: 60 };
  const quiet = kit.quiet.bind(kit);
  const crashDuring = kit.crashDuring.bind(kit);
  const stallDuring = kit.stallDuring.bind(kit);
  kit.quiet = (patience) => quiet({ ...long, ...patience });
  kit.crashDuring = (target, work, patience) => crashDuring(target, work, { ...long, ...patience });
  kit.stallDuring = (target, work, patience) => stallDuring(target, work, { ...long, ...patience });
  return kit;
}
