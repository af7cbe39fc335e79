import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Queryable } from '../../src/database/index.js';
import { keyedPerspective, perspective, perspectiveFor, streamIdOf } from '../../src/index.js';
import { OrderPaid, OrderPlaced, paid, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { orders, rowsOf } from './support/orders.js';

const holds = async (db: TestDatabase) =>
  (
    await db.pool.query(
      `select stream_id as id, model_key as key, last_version::int as applied, passed_version::int as passed, failed_version::int as failed, error
       from wh_perspective_checkpoints where held order by stream_id`,
    )
  ).rows;

const dueNow = (db: TestDatabase) =>
  db.pool.query('update wh_perspective_checkpoints set retry_at = now() where held');

/** Orders whose function fails for a poisoned stream, while `isOn` is true. */
function poisoned(streams: readonly string[]) {
  const poison = { isOn: true };
  const made = perspective('orders', { model: z.object({ steps: z.array(z.number()) }) })
    .starts(OrderPlaced, ({ cents }) => ({ steps: [cents] }))
    .on(OrderPaid, ({ steps }, { orderId, cents }) => {
      if (poison.isOn && streams.includes(orderId)) throw new Error('poison');
      return { steps: [...steps, cents] };
    });
  return { poison, made };
}

describe('a held stream of a perspective', () => {
  it('an event that cannot be applied holds its own stream, and all others go on', async () => {
    await using db = await createTestDatabase();
    const { poison, made } = poisoned(['s7']);
    await using shop = service(db, { perspectives: [made] });
    await shop.start();
    for (let i = 0; i < 20; i++)
      await shop.events.append([placed(`s${i}`, 1), paid(`s${i}`, 2), paid(`s${i}`, 3)]);
    await eventually(async () => {
      const rows = await rowsOf<{ id: string; version: string }>(db, 'orders');
      expect(rows.filter(({ version }) => version === '3')).toHaveLength(19);
      expect(rows.find(({ id }) => id === streamIdOf('s7'))).toMatchObject({
        version: '1',
        data: { steps: [1] },
      });
    });
    expect(await holds(db)).toMatchObject([
      { id: streamIdOf('s7'), applied: 1, passed: 3, failed: 2, error: expect.stringContaining('poison') },
    ]);
    await shop.events.append(paid('s7', 4));
    await eventually(async () => expect(await holds(db)).toMatchObject([{ passed: 4 }]));
    poison.isOn = false;
    await dueNow(db);
    await eventually(async () => {
      expect(await holds(db)).toEqual([]);
      const row = (await rowsOf<{ id: string }>(db, 'orders')).find(({ id }) => id === streamIdOf('s7'));
      expect(row).toMatchObject({ version: '4', data: { steps: [1, 2, 3, 4] } });
    });
  });

  it('a key that cannot be applied holds its own model, which catches up in the order of the log', async () => {
    await using db = await createTestDatabase();
    const poison = { isOn: true };
    const byCustomer = keyedPerspective('by_customer', {
      model: z.object({ orders: z.array(z.string()) }),
      initial: { orders: [] },
    }).on(
      OrderPlaced,
      ({ customer }) => customer,
      ({ orders: before }, { orderId, customer }) => {
        if (poison.isOn && customer === 'Eve' && before.length === 1) throw new Error('poison');
        return { orders: [...before, orderId] };
      },
    );
    await using shop = service(db, { perspectives: [byCustomer] });
    await shop.start();
    for (let i = 0; i < 12; i++) {
      await shop.events.append(OrderPlaced({ orderId: `o${i}`, customer: i % 2 ? 'Eve' : 'Ada', cents: 1 }));
    }
    await eventually(async () =>
      expect(await rowsOf(db, 'by_customer')).toMatchObject([
        { id: 'Ada', data: { orders: ['o0', 'o2', 'o4', 'o6', 'o8', 'o10'] } },
        { id: 'Eve', data: { orders: ['o1'] } },
      ]),
    );
    expect(await holds(db)).toMatchObject([{ key: 'Eve' }]);
    poison.isOn = false;
    await dueNow(db);
    await eventually(async () =>
      expect(await rowsOf(db, 'by_customer')).toMatchObject([
        { id: 'Ada', version: '6' },
        { id: 'Eve', version: '6', data: { orders: ['o1', 'o3', 'o5', 'o7', 'o9', 'o11'] } },
      ]),
    );
    expect(await holds(db)).toEqual([]);
  });

  it('a model that a column refuses holds its stream, and all others go on', async () => {
    await using db = await createTestDatabase();
    const halves = perspective('halves', {
      model: z.object({ cents: z.number() }),
      columns: { cents: 'int' },
    }).starts(OrderPlaced, ({ orderId, cents }) => ({ cents: orderId === 's3' ? cents + 0.5 : cents }));
    await using shop = service(db, { perspectives: [halves] });
    await shop.start();
    await shop.events.append(Array.from({ length: 10 }, (_, i) => placed(`s${i}`, i)));
    await eventually(async () => expect(await rowsOf(db, 'halves')).toHaveLength(9));
    expect(await holds(db)).toMatchObject([
      { id: streamIdOf('s3'), failed: 1, error: expect.stringContaining('refused') },
    ]);
  });

  it('a function that fails in the transaction of the user holds its stream, and writes nothing of it', async () => {
    await using db = await createTestDatabase();
    await db.pool.query('create table stock (order_id text, step int)');
    const poison = { isOn: true };
    const stock = perspectiveFor<Queryable>()('stock_log').on(
      OrderPlaced,
      async ({ orderId, cents }, { tx }) => {
        await tx.query('insert into stock values ($1, $2)', [orderId, cents]);
        if (poison.isOn && orderId === 's5') throw new Error('poison');
      },
    );
    await using shop = service(db, { perspectives: [stock] });
    await shop.start();
    await shop.events.append(Array.from({ length: 10 }, (_, i) => placed(`s${i}`, i)));
    const stored = async () =>
      (await db.pool.query('select order_id as id from stock order by step')).rows.map(({ id }) => id);
    await eventually(async () => expect(await stored()).toHaveLength(9));
    expect(await stored()).not.toContain('s5');
    expect(await holds(db)).toMatchObject([{ id: streamIdOf('s5'), failed: 1 }]);
    poison.isOn = false;
    await dueNow(db);
    await eventually(async () => expect(await stored()).toHaveLength(10));
    expect(await holds(db)).toEqual([]);
  });

  it('two perspectives of one name are refused', async () => {
    await using db = await createTestDatabase();
    expect(() => service(db, { perspectives: [orders, orders] })).toThrow(
      /two perspectives are named orders/,
    );
  });
});
