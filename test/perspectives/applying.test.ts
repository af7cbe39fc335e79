import { describe, expect, it } from 'vitest';
import { streamIdOf } from '../../src/index.js';
import { OrderCancelled, paid, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { orders, revenue, rowsOf } from './support/orders.js';

describe('a perspective of an instance', () => {
  it('a model is begun, changed and ended by the events of its stream', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders] });
    await shop.start();
    await shop.events.append([placed('a', 5), placed('b', 7)]);
    await eventually(async () =>
      expect(await rowsOf(db, 'orders')).toMatchObject(
        expect.arrayContaining([
          expect.objectContaining({
            id: streamIdOf('a'),
            version: '1',
            status: 'placed',
            cents: 5,
            customer: 'Ada',
          }),
          expect.objectContaining({
            id: streamIdOf('b'),
            data: { customer: 'Ada', cents: 7, status: 'placed' },
          }),
        ]),
      ),
    );
    await shop.events.append([paid('a', 5), OrderCancelled({ orderId: 'b' })]);
    await eventually(async () =>
      expect(await rowsOf(db, 'orders')).toMatchObject([
        { id: streamIdOf('a'), version: '2', status: 'paid' },
      ]),
    );
  });

  it('a keyed perspective counts the events of many streams', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [revenue] });
    await shop.start();
    for (let i = 0; i < 20; i++) await shop.events.append([placed(`s${i}`, i), paid(`s${i}`, i)]);
    await eventually(async () =>
      expect(await rowsOf(db, 'revenue')).toMatchObject([
        { id: '2026-11-17', data: { orders: 20, cents: 190 } },
      ]),
    );
  });

  it('events that were there before the perspective are in its models, stream by stream', async () => {
    await using db = await createTestDatabase();
    await using before = service(db);
    for (let i = 0; i < 30; i++) await before.events.append([placed(`s${i}`, i), paid(`s${i}`, i)]);
    await using shop = service(db, { perspectives: [orders, revenue] });
    await shop.start();
    await eventually(async () => {
      expect(await rowsOf(db, 'orders')).toHaveLength(30);
      expect(await rowsOf(db, 'revenue')).toMatchObject([{ data: { orders: 30 } }]);
      const { rows } = await db.pool.query('select name, state from wh_perspectives order by name');
      expect(rows).toEqual([
        { name: 'orders@1', state: 'live' },
        { name: 'revenue@1', state: 'live' },
      ]);
    });
  });
});
