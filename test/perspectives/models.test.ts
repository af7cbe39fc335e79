import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { perspective, streamIdOf } from '../../src/index.js';
import { OrderCancelled, OrderPaid, OrderPlaced, paid, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { openSession } from '../support/sessions.js';
import { orders, revenue } from './support/orders.js';

const day = '2026-11-17';

describe('model(p).get', () => {
  it('a model is got by the text of its stream, by the id of its stream, or by its key', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders, revenue] });
    await shop.start();
    const receipt = await shop.events.append([placed('a', 5), paid('a', 5)]);
    await shop.model(orders).waitFor(receipt);
    await shop.model(revenue).waitFor(receipt);
    const model = { customer: 'Ada', cents: 5, status: 'paid' };
    expect(await shop.model(orders).get('a')).toEqual(model);
    expect(await shop.model(orders).get(streamIdOf('a'))).toEqual(model);
    expect(await shop.model(revenue).get(day)).toEqual({ orders: 1, cents: 5 });
    expect(await shop.model(orders).get('b')).toBeNull();
    expect(await shop.model(revenue).get('never')).toBeNull();
  });

  it('no model is stale when 1000 appends are each read back at once with their receipts', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders] });
    await shop.start();
    const one = async (id: string) => {
      for (let i = 0; i < 25; i++) {
        const order = `${id}-${Math.floor(i / 2)}`;
        const atLeast = await shop.events.append(i % 2 === 0 ? placed(order, i) : paid(order, i));
        const status = i % 2 === 0 ? 'placed' : 'paid';
        expect(await shop.model(orders).get(order, { atLeast })).toMatchObject({ status });
      }
    };
    await Promise.all(Array.from({ length: 40 }, (_, i) => one(`order-${i}`)));
  });

  it('a model that nobody keeps up is folded from the events, also when it has ended', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders] });
    const first = await shop.events.append([placed('a', 5), paid('a', 5)]);
    expect(await shop.model(orders).get('a')).toMatchObject({ status: 'paid' });
    expect(await shop.model(orders).get('a', { atLeast: first })).toMatchObject({ status: 'paid' });
    const atLeast = await shop.events.append(OrderCancelled({ orderId: 'a' }));
    expect(await shop.model(orders).get('a', { atLeast })).toBeNull();
    // What was written to another stream does not concern this one.
    const other = await shop.events.append(placed('b'));
    expect(await shop.model(orders).get('a', { atLeast: other })).toBeNull();
  });

  it('a long stream is folded to its end, over several pages', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append(placed('a'));
    for (let i = 0; i < 6; i++) await shop.events.append(Array.from({ length: 200 }, () => paid('a', i)));
    const counting = perspective('counting', { model: z.object({ paid: z.number() }) })
      .starts(OrderPlaced, () => ({ paid: 0 }))
      .on(OrderPaid, (order) => ({ paid: order.paid + 1 }));
    expect(await shop.model(counting).get('a')).toEqual({ paid: 1200 });
  });

  it('a model and the events above it are of one moment, whatever a writer does in between', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders] });
    await shop.start();
    await shop.model(orders).waitFor(await shop.events.append(placed('a', 1)));
    await shop.stop();
    // A session stands between the two halves: the function has its snapshot, and a writer commits.
    const { client } = await openSession(db);
    await client.query('begin isolation level repeatable read');
    await client.query('select 1 from wh_event_streams');
    await using writer = service(db);
    await writer.events.append(paid('a', 1));
    await db.pool.query(`update orders_v1 set version = 2, data = data || '{"status": "paid"}'`);
    const load = `select wh_load_model('orders@1', $1, array['OrderPlaced', 'OrderPaid'], true, 10) as loaded`;
    const during = (await client.query(load, [streamIdOf('a')])).rows[0]?.loaded;
    await client.query('commit');
    const after = (await client.query(load, [streamIdOf('a')])).rows[0]?.loaded;
    expect(during).toMatchObject({ version: 1, model: { status: 'placed' }, events: [], stream_version: 1 });
    expect(after).toMatchObject({ version: 2, model: { status: 'paid' }, events: [], stream_version: 2 });
  });

  it('a receipt whose transaction was rolled back ends in an error that says so', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders] });
    const { client } = await openSession(db);
    await client.query('begin');
    const atLeast = await shop.events.append(placed('a'), { tx: client });
    await client.query('rollback');
    await expect(shop.model(orders).get('a', { atLeast, timeoutSeconds: 0.05 })).rejects.toMatchObject({
      code: 'PERSPECTIVE_TIMEOUT',
      message: expect.stringContaining('is not in the store: its transaction is open, or was rolled back'),
    });
  });

  it('a query of a perspective that is not built is refused, unless it may be stale', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders, revenue] });
    const building = { code: 'PERSPECTIVE_BUILDING' };
    await expect(shop.model(orders).find()).rejects.toMatchObject(building);
    await expect(shop.model(revenue).get(day)).rejects.toMatchObject(building);
    expect(await shop.model(revenue).get(day, { stale: true })).toBeNull();
    await shop.start();
    await shop.model(orders).waitFor(await shop.events.append([placed('a', 5), paid('a', 5)]));
    await shop.stop();
    await db.pool.query(`update wh_perspectives set state = 'building'`);
    await using later = service(db);
    await expect(later.model(orders).find()).rejects.toMatchObject(building);
    expect(await later.model(orders).find({ stale: true })).toMatchObject([{ model: { cents: 5 } }]);
    expect(await later.model(orders).get('a')).toMatchObject({ status: 'paid' });
  });

  it('a stored model that does not fit the schema is an error that names the field', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders] });
    await shop.start();
    await shop.model(orders).waitFor(await shop.events.append(placed('a', 5)));
    await db.pool.query(`update orders_v1 set data = data || '{"cents": "five"}'`);
    await expect(shop.model(orders).get('a')).rejects.toMatchObject({
      code: 'FOLD_FAILED',
      details: { name: 'orders', path: 'cents' },
    });
  });
});
