import { describe, expect, it } from 'vitest';
import { receptor } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { pgbouncerIsInstalled, startPgBouncer } from '../support/pgbouncer.js';
import { OrderPlaced, service } from './service.js';

const orders = Array.from({ length: 10 }, (_, i) => `order ${i}`);
const steps = [1, 2, 3];

describe.skipIf(!pgbouncerIsInstalled)('Through pgbouncer in transaction mode', () => {
  it.each([
    ['a direct URL for LISTEN', (direct: string) => ({ listen: direct, pollIntervalMs: 60_000 })],
    ['polling alone', () => ({ listen: false, pollIntervalMs: 20 })],
  ])('two instances behind pgbouncer, with %s, handle everything once and in order', async (_, options) => {
    await using db = await createTestDatabase();
    await db.pool.query('create table effects (n serial, order_id text, step int)');
    await using bouncer = await startPgBouncer(db.connectionString);
    const onPlaced = receptor(OrderPlaced, async ({ orderId, step }, ctx) => {
      await ctx.tx.query('insert into effects (order_id, step) values ($1, $2)', [orderId, step]);
    });
    const { connectionString } = bouncer;
    const make = () =>
      service(db, {
        connectionString,
        receptors: [onPlaced],
        takeoverSeconds: 1,
        ...options(db.connectionString),
      });
    await using one = make();
    await using two = make();
    await Promise.all([one.start(), two.start()]);
    for (const step of steps) {
      await one.publish(orders.map((orderId) => OrderPlaced({ orderId, step })));
    }
    await eventually(async () => {
      const { rows } = await db.pool.query(
        'select order_id, array_agg(step order by n) as steps from effects group by order_id order by order_id',
      );
      expect(rows).toEqual(orders.map((order_id) => ({ order_id, steps })));
    });
  });
});
