import { describe, expect, it } from 'vitest';
import { paid, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { buildsOf, digestOf, ledger } from './support/builds.js';
import { orders, rowsOf } from './support/orders.js';
import { fragileOrders } from './support/poison.js';

describe('a rebuild beside', () => {
  it('a rebuild makes models of equal content in a table of their own, and queries read them', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders] });
    await shop.start();
    for (let i = 0; i < 30; i++) await shop.events.append([placed(`o${i}`, i), paid(`o${i}`, i)]);
    await eventually(async () => expect(await rowsOf(db, 'orders')).toHaveLength(30));
    // A model that is wrong, as after a mistake in its code.
    await db.pool.query(`update orders_v1 set data = data || '{"cents": 1000000}'`);
    const shares: number[] = [];
    const done = await shop.perspectives.rebuild(orders, { onProgress: ({ share }) => shares.push(share) });
    expect(done).toMatchObject({ build: 'orders@1.2', state: 'live', share: 1, secondsLeft: 0, held: 0 });
    expect(shares.at(-1)).toBe(1);
    expect(await buildsOf(db, 'orders')).toEqual({ 'orders@1': 'retired', 'orders@1.2': 'live' });
    const models = await rowsOf<{ data: { cents: number } }>(db, 'orders');
    expect(models.map(({ data }) => data.cents).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 30 }, (_, i) => i),
    );
  });

  it('both builds are kept up after a rebuild, and a switch goes back to the one before', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders] });
    await shop.start();
    await shop.events.append([placed('a', 1), placed('b', 2)]);
    await shop.perspectives.rebuild(orders);
    await shop.events.append([paid('a'), placed('c', 3)]);
    await eventually(async () => {
      expect(await digestOf(db, 'orders_v1')).toBe(await digestOf(db, 'orders_v1_2'));
      expect(await rowsOf(db, 'orders_v1')).toHaveLength(3);
    });
    const back = await shop.perspectives.switch(orders);
    expect(back).toMatchObject({ build: 'orders@1', state: 'live' });
    expect(await buildsOf(db, 'orders')).toEqual({ 'orders@1': 'live', 'orders@1.2': 'retired' });
    await shop.events.append(placed('d', 4));
    await eventually(async () => expect(await rowsOf(db, 'orders')).toHaveLength(4));
  });

  it('a second rebuild drops the build before the last, and its table', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders] });
    await shop.start();
    await shop.events.append(placed('a', 1));
    await shop.perspectives.rebuild(orders);
    await shop.perspectives.rebuild(orders);
    expect(await buildsOf(db, 'orders')).toEqual({ 'orders@1.2': 'retired', 'orders@1.3': 'live' });
    const { rows } = await db.pool.query(
      `select to_regclass('orders_v1') as old, to_regclass('orders_v1_3') as new`,
    );
    expect(rows).toEqual([{ old: null, new: 'orders_v1_3' }]);
    expect(await rowsOf(db, 'orders')).toHaveLength(1);
    await shop.perspectives.drop(orders, 'orders@1.2');
    expect(await buildsOf(db, 'orders')).toEqual({ 'orders@1.3': 'live' });
    await expect(shop.perspectives.drop(orders, 'orders@1.3')).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
  });

  it('a build that is dropped takes with it what is held in it, and only that', async () => {
    await using db = await createTestDatabase();
    const fragile = fragileOrders({ isCured: false });
    await using shop = service(db, { perspectives: [fragile] });
    await shop.start();
    await shop.events.append([placed('a'), paid('a', 13)]);
    const heldBuilds = async () => {
      const text = 'select perspective_name as build from wh_perspective_checkpoints where held order by 1';
      return (await db.pool.query<{ build: string }>(text)).rows.map(({ build }) => build);
    };
    await eventually(async () => expect(await heldBuilds()).toEqual(['fragile@1']));
    await shop.perspectives.rebuild(fragile);
    await eventually(async () => expect(await heldBuilds()).toEqual(['fragile@1', 'fragile@1.2']));
    await shop.perspectives.drop(fragile, 'fragile@1');
    expect(await heldBuilds()).toEqual(['fragile@1.2']);
  });

  it('a rebuild that is not to switch stays beside, and is switched to later', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders] });
    await shop.start();
    await shop.events.append(placed('a', 1));
    await eventually(async () => expect(await buildsOf(db, 'orders')).toEqual({ 'orders@1': 'live' }));
    const done = await shop.perspectives.rebuild(orders, { switchOver: false });
    expect(done).toMatchObject({ build: 'orders@1.2', state: 'beside', isReady: true });
    expect(await shop.perspectives.switch(orders)).toMatchObject({ build: 'orders@1.2', state: 'live' });
  });

  it('a rebuilt keyed perspective equals the live one byte for byte while events arrive', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [ledger] });
    await using other = service(db);
    await shop.start();
    const write = async (from: typeof shop, name: string) => {
      for (let i = 0; i < 150; i++)
        await from.events.append([placed(`${name}${i}`, i), paid(`${name}${i}`, i * 7)]);
    };
    const writers = [write(shop, 'a'), write(other, 'b'), write(other, 'c')];
    await shop.perspectives.rebuild(ledger);
    await Promise.all(writers);
    await eventually(async () => {
      const { rows } = await db.pool.query(`select version::int from ledger where id = 'all'`);
      expect(rows).toEqual([{ version: 450 }]);
      expect(await digestOf(db, 'ledger_v1')).toBe(await digestOf(db, 'ledger_v1_2'));
    });
  });
});
