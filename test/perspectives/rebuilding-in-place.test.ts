import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Queryable } from '../../src/database/index.js';
import { perspective, perspectiveFor, streamIdOf } from '../../src/index.js';
import { OrderPaid, OrderPlaced, paid, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { buildsOf, digestOf } from './support/builds.js';
import { announced, announcing, logAnnouncements } from './support/messages.js';
import { orders, rowsOf } from './support/orders.js';

describe('a rebuild in place', () => {
  it('the models of some streams are folded again, and nothing is announced again', async () => {
    await using db = await createTestDatabase();
    await logAnnouncements(db);
    const seen = announcing(1);
    await using shop = service(db, { perspectives: [seen] });
    await shop.start();
    await shop.events.append([placed('a', 1), paid('a'), placed('b', 2), placed('c', 3)]);
    await eventually(async () => expect(await announced(db)).toHaveLength(4));
    const before = await digestOf(db, 'seen');
    await db.pool.query(`update seen_v1 set data = '{"cents": 9, "paid": false}' where id <> $1`, [
      streamIdOf('c'),
    ]);
    await db.pool.query('delete from seen_v1 where id = $1', [streamIdOf('c')]);
    await shop.perspectives.rebuild(seen, { streams: ['a', 'b', 'c', 'never'] });
    expect(await digestOf(db, 'seen')).toBe(before);
    await shop.events.append(paid('b'));
    await eventually(async () => expect(await announced(db)).toHaveLength(5));
    expect((await announced(db)).map(({ what }) => what)).toEqual([
      '1 false',
      '1 true',
      '2 false',
      '2 true',
      '3 false',
    ]);
  });

  it('a stream that is held is folded again when its code is right, and is free then', async () => {
    await using db = await createTestDatabase();
    const poison = { isOn: true };
    const made = perspective('orders', { model: z.object({ steps: z.number() }) })
      .starts(OrderPlaced, () => ({ steps: 1 }))
      .on(OrderPaid, ({ steps }) => {
        if (poison.isOn) throw new Error('poison');
        return { steps: steps + 1 };
      });
    await using shop = service(db, { perspectives: [made] });
    await shop.start();
    await shop.events.append([placed('a'), paid('a')]);
    const held = () => db.pool.query('select 1 from wh_perspective_checkpoints where held');
    await eventually(async () => expect((await held()).rowCount).toBe(1));
    await expect(shop.perspectives.rebuild(made, { streams: ['a'] })).rejects.toThrow('poison');
    expect((await held()).rowCount).toBe(1);
    poison.isOn = false;
    await shop.perspectives.rebuild(made, { streams: ['a'] });
    expect((await held()).rowCount).toBe(0);
    expect(await rowsOf(db, 'orders')).toMatchObject([{ version: '2', data: { steps: 2 } }]);
  });

  it('a perspective of your own tables is emptied by its own function, and filled again', async () => {
    await using db = await createTestDatabase();
    await db.pool.query('create table lines (order_id text)');
    const lines = perspectiveFor<Queryable>()('lines')
      .on(OrderPlaced, async ({ orderId }, { tx }) => {
        await tx.query('insert into lines values ($1)', [orderId]);
      })
      .resets(async ({ tx }) => {
        await tx.query('delete from lines', []);
      });
    await using shop = service(db, { perspectives: [lines] });
    await shop.start();
    for (let i = 0; i < 5; i++) await shop.events.append(placed(`o${i}`, i));
    const count = async () => (await db.pool.query('select order_id from lines order by 1')).rowCount;
    await eventually(async () => expect(await count()).toBe(5));
    await db.pool.query(`insert into lines values ('wrong')`);
    await expect(shop.perspectives.rebuild(lines)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    const done = await shop.perspectives.rebuild(lines, { inPlace: true });
    expect(done).toMatchObject({ build: 'lines@1', state: 'live' });
    expect(await count()).toBe(5);
    const endless = perspectiveFor<Queryable>()('lines').on(OrderPlaced, async () => undefined);
    await expect(shop.perspectives.rebuild(endless, { inPlace: true })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
    });
  });
});

describe('a comparison of two builds', () => {
  it('the models that differ are found page by page, those of equal version first', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders] });
    await shop.start();
    for (let i = 0; i < 12; i++) await shop.events.append(placed(`o${i}`, i));
    await eventually(async () => {
      expect(await buildsOf(db, 'orders')).toEqual({ 'orders@1': 'live' });
      expect((await db.pool.query('select from orders')).rowCount).toBe(12);
    });
    await shop.perspectives.rebuild(orders, { switchOver: false });
    expect(await shop.perspectives.diff(orders)).toMatchObject({
      build: 'orders@1',
      other: 'orders@1.2',
      models: [],
    });
    const [ahead, wrong, more] = [streamIdOf('o1'), streamIdOf('o2'), streamIdOf('o3')];
    await db.pool.query(`update orders_v1_2 set data = '{}', version = 2 where id = $1`, [ahead]);
    await db.pool.query(`update orders_v1_2 set data = '{}' where id = $1`, [wrong]);
    await db.pool.query('delete from orders_v1 where id = $1', [more]);
    const found: string[] = [];
    let after: string | undefined;
    do {
      const page = await shop.perspectives.diff(orders, { limit: 2, after });
      found.push(...page.models.map(({ id }) => id));
      after = page.after;
    } while (after !== undefined);
    expect(found[0]).toBe(wrong);
    expect(found.toSorted()).toEqual([ahead, wrong, more].toSorted());
    const [first] = (await shop.perspectives.diff(orders)).models;
    expect(first).toMatchObject({ version: 1, otherVersion: 1, model: { cents: 2 }, otherModel: {} });
  });
});
