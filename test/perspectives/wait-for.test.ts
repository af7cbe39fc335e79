import { describe, expect, it } from 'vitest';
import { paid, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { openSession } from '../support/sessions.js';
import { orders, revenue } from './support/orders.js';
import { fragileOrders, fragileRevenue } from './support/poison.js';

const long = { timeoutSeconds: 60 };
const soon = { timeoutSeconds: 0.05 };

describe('model(p).waitFor', () => {
  it('a wait ends when the perspective has applied everything that was written, also to several streams', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders, revenue] });
    await shop.start();
    for (let i = 0; i < 20; i++) {
      const receipt = await shop.events.append([placed(`a${i}`), paid(`a${i}`, i), placed(`b${i}`)]);
      await shop.model(orders).waitFor(receipt, long);
      await shop.model(revenue).waitFor(receipt, long);
      const { rows } = await db.pool.query('select count(*)::int as models from orders');
      expect(rows).toEqual([{ models: 2 * i + 2 }]);
      expect(await shop.model(revenue).get('2026-11-17')).toMatchObject({ orders: i + 1 });
    }
  });

  it('a wait for an event that does not concern the perspective ends at once', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [revenue] });
    await shop.start();
    await shop.model(revenue).waitFor(await shop.events.append(paid('a')), long);
    await shop.stop();
    await using other = service(db);
    const receipt = await other.events.append(placed('b'));
    await db.pool.query('select wh_tick()');
    await other.model(revenue).waitFor(receipt, { timeoutSeconds: 0 });
    await other.model(revenue).waitFor({ streamId: receipt.streamId, version: 0 }, { timeoutSeconds: 0 });
  });

  it('a wait ends for an event in ticks that were merged, before and behind the bookmark', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders] });
    await shop.start();
    await shop.model(orders).waitFor(await shop.events.append(placed('a')), long);
    await shop.stop();
    // Nobody else makes ticks now, so each event gets one.
    await using other = service(db);
    const receipts = [];
    for (let i = 0; i < 6; i++) {
      receipts.push(await other.events.append(placed(`a${i}`)));
      await db.pool.query('select wh_tick()');
    }
    // The bookmark goes into the middle of them, and all ticks become one.
    const { rows } = await db.pool.query(
      'select tick, upper(covers) - 1 as top from wh_event_ticks order by tick',
    );
    expect(rows.length).toBeGreaterThan(4);
    const middle = rows.at(-3) as { tick: string; top: string };
    await db.pool.query('update wh_perspective_bookmarks set tick = $1, upto = $2', [
      middle.tick,
      middle.top,
    ]);
    await db.pool.query('select wh_merge_ticks(0, 1000)');
    expect((await db.pool.query('select 1 from wh_event_ticks')).rows.length).toBeLessThan(rows.length);
    const isThere = receipts.map(({ sequenceNumber }) => sequenceNumber <= Number(middle.top));
    expect(new Set(isThere).size).toBe(2);
    for (const [i, receipt] of receipts.entries()) {
      const wait = other.model(orders).waitFor(receipt, { timeoutSeconds: 0 });
      if (isThere[i]) await wait;
      else await expect(wait).rejects.toMatchObject({ code: 'PERSPECTIVE_TIMEOUT' });
    }
  });

  it('a wait for a stream that is held ends at once with the failure', async () => {
    await using db = await createTestDatabase();
    const fragile = fragileOrders({ isCured: false });
    await using shop = service(db, { perspectives: [fragile] });
    await shop.start();
    const poisoned = await shop.events.append([placed('a'), paid('a', 13)]);
    const held = {
      code: 'PERSPECTIVE_HELD',
      message: expect.stringContaining('13 is not a price'),
      details: { perspective: 'fragile@1', streamId: poisoned.streamId, version: 2, event: 'OrderPaid' },
    };
    await expect(shop.model(fragile).waitFor(poisoned, long)).rejects.toMatchObject(held);
    const later = await shop.events.append(paid('a', 1));
    await expect(shop.model(fragile).waitFor(later, long)).rejects.toMatchObject(held);
    await expect(shop.model(fragile).get('a', { atLeast: later })).rejects.toMatchObject(held);
    expect(await shop.model(fragile).get('a')).toEqual({ paid: 0, sum: 0 });
    // The version before the failure was applied, and other streams are not concerned.
    await shop.model(fragile).waitFor({ streamId: poisoned.streamId, version: 1 }, long);
    await shop.model(fragile).waitFor(await shop.events.append(placed('b')), long);
  });

  it('a wait for a held model of a key ends at once, and one for another key goes on', async () => {
    await using db = await createTestDatabase();
    const fragile = fragileRevenue({ isCured: false });
    await using shop = service(db, { perspectives: [fragile] });
    await shop.start();
    const before = await shop.events.append(paid('a', 1));
    await shop.model(fragile).waitFor(before, long);
    const poisoned = await shop.events.append(paid('a', 13));
    const held = { code: 'PERSPECTIVE_HELD', details: { key: 'small', version: 2, event: 'OrderPaid' } };
    await expect(shop.model(fragile).waitFor(poisoned, long)).rejects.toMatchObject(held);
    const behind = await shop.events.append(paid('b', 2));
    await expect(shop.model(fragile).get('small', { atLeast: behind, ...long })).rejects.toMatchObject(held);
    await shop.model(fragile).waitFor(before, long);
    const atLeast = await shop.events.append(paid('c', 500));
    expect(await shop.model(fragile).get('large', { atLeast, ...long })).toEqual({ orders: 1 });
  });

  it('a wait that ends in time is told how far the perspective is, and that nobody has its code', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders] });
    await shop.start();
    await shop.model(orders).waitFor(await shop.events.append(placed('a')), long);
    await shop.stop();
    await using other = service(db);
    const receipt = await other.events.append([placed('b'), paid('b')]);
    await expect(other.model(orders).waitFor(receipt, soon)).rejects.toMatchObject({
      code: 'PERSPECTIVE_TIMEOUT',
      message: `orders@1 has not come to version 2 of stream ${receipt.streamId} within 0.05 s: it is 2 events behind, and no running instance has its code, orders@1.`,
      details: { lagEvents: 2, cause: 'no running instance has its code, orders@1' },
      retryable: true,
    });
    await expect(other.model(revenue).waitFor(receipt, soon)).rejects.toMatchObject({
      message: expect.stringContaining('no instance has registered it'),
    });
  });

  it('a wait for an append that is not committed yet ends when it is', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [orders] });
    await shop.start();
    const { client } = await openSession(db);
    await client.query('begin');
    const receipt = await shop.events.append(placed('a'), { tx: client });
    await expect(shop.model(orders).waitFor(receipt, soon)).rejects.toMatchObject({
      code: 'PERSPECTIVE_TIMEOUT',
      details: { isStored: false },
    });
    const wait = shop.model(orders).waitFor(receipt, long);
    const get = shop.model(orders).get('a', { atLeast: receipt, ...long });
    await client.query('commit');
    await wait;
    expect(await get).toMatchObject({ status: 'placed' });
    await eventually(async () => expect(await shop.model(orders).get('a')).not.toBeNull());
  });
});
