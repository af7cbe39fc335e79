// Places in the log that were noted before ticks were merged: under the number of a tick that is part of another one now.
import { describe, expect, it } from 'vitest';
import { paid, placed } from '../events/shop.js';
import { begin } from '../races/transactions.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { makeTick, ticks } from '../support/ticks.js';
import { orders, revenue, rowsOf } from './support/orders.js';

/** As the audit does, sooner or later: all ticks but the newest. */
async function merge(db: TestDatabase): Promise<void> {
  await db.pool.query('select wh_merge_ticks(0, (select max(tick) - 1 from wh_event_ticks))');
}

describe('A perspective whose ticks were merged', () => {
  it('a sweep ends in front of a lower number that is committed later, and lands in the same merged tick', async () => {
    await using db = await createTestDatabase();
    await using writer = service(db);
    const [low, middle] = [await begin(db), await begin(db)];
    await writer.events.append(placed('low'), { tx: low.client });
    await writer.events.append(placed('middle'), { tx: middle.client });
    await writer.events.append(placed('high'));
    await makeTick(db.pool);
    await low.query('commit');
    await makeTick(db.pool);
    expect((await ticks(db)).map(({ numbers }) => numbers)).toEqual([[3], [1]]);
    await using shop = service(db, { perspectives: [orders] });
    await shop.start();
    await eventually(async () => expect(await rowsOf(db, 'orders')).toHaveLength(2));
    await shop.stop();
    await middle.query('commit');
    await makeTick(db.pool);
    await writer.events.append(placed('newest'));
    await makeTick(db.pool);
    await merge(db);
    expect((await ticks(db)).map(({ numbers }) => numbers)).toEqual([[3], [1, 2], [4]]);
    await using again = service(db, { perspectives: [orders] });
    await again.start();
    await eventually(async () => expect(await rowsOf(db, 'orders')).toHaveLength(4));
  });

  it('a build beside a live one in a merged tick applies the events up to it, and those behind it', async () => {
    await using db = await createTestDatabase();
    await using before = service(db, { perspectives: [revenue] });
    await before.start();
    for (const id of ['a', 'b'])
      await before.model(revenue).waitFor(await before.events.append(paid(id)), { timeoutSeconds: 60 });
    await eventually(async () =>
      expect((await db.pool.query('select state from wh_perspectives')).rows).toEqual([{ state: 'live' }]),
    );
    await before.stop();
    await using writer = service(db);
    await writer.events.append(paid('c'));
    await makeTick(db.pool);
    await writer.events.append(placed('newest'));
    await makeTick(db.pool);
    await merge(db);
    expect((await ticks(db)).map(({ numbers }) => numbers)).toEqual([[1, 2, 3], [4]]);
    // The live build stays where it is, at the second event.
    await db.pool.query('update wh_perspectives set is_paused = true');
    await using shop = service(db, { perspectives: [revenue] });
    await shop.start();
    expect(await shop.perspectives.rebuild(revenue)).toMatchObject({ state: 'live' });
    await eventually(async () =>
      expect(await rowsOf(db, 'revenue')).toMatchObject([{ version: '3', data: { orders: 3 } }]),
    );
  });
});
