// An event that is skipped is in no model, however close a batch was that would have applied it.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  moveBookmark,
  type NextBatch,
  readModels,
  type TakenBookmark,
  takeBookmark,
} from '../../src/coordinator/index.js';
import { newMessageId, perspective } from '../../src/index.js';
import { encodeResults } from '../../src/perspectives/batch-results.js';
import { foldBatch } from '../../src/perspectives/fold-batch.js';
import type { AnyPerspective } from '../../src/perspectives/index.js';
import { OrderPaid, OrderPlaced, paid, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { holdsIn, retryNow } from './support/holds.js';
import { rowsOf } from './support/orders.js';
import { fragileOrders, fragileRevenue } from './support/poison.js';

const reason = 'ticket 4711';
const notHeldNow = {
  code: 'INVALID_REQUEST',
  message: expect.stringContaining('is not held at an event now'),
};

/** Takes the bookmark of a perspective and folds what comes next, at most `limit` events. */
async function foldNext(db: TestDatabase, perspective: AnyPerspective<never>, limit: number) {
  const key = { instanceId: newMessageId(), name: `${perspective.name}@1`, from: 0 };
  await db.pool.query(
    `update wh_perspective_bookmarks set instance_id = $1, lease_expiry = clock_timestamp() + interval '1 hour'`,
    [key.instanceId],
  );
  const taken = (await takeBookmark(db.pool, 'whizbang', key, limit)) as TakenBookmark & { next: NextBatch };
  const { next } = taken;
  const read = (ids: readonly string[]) => readModels(db.pool, 'whizbang', key.name, ids);
  const outcome = await foldBatch(perspective as never, next, read, {
    origin: { service: 'shop', instanceId: key.instanceId } as never,
    keys: { openEvents: async (rows) => rows },
  });
  const move = { taken, next, results: encodeResults(next, outcome), leaseSeconds: 60, limit, goesOn: false };
  return { models: outcome.models, store: () => moveBookmark(db.pool, 'whizbang', key, move) };
}

describe('An event that is skipped', () => {
  it('a batch that was read before an event was skipped, and could apply it by then, stores nothing', async () => {
    await using db = await createTestDatabase();
    const cure = { isCured: false };
    const fragile = fragileOrders(cure);
    await using shop = service(db, { perspectives: [fragile] });
    await shop.start();
    await shop.events.append([placed('a'), paid('a', 13), paid('a', 2)]);
    await eventually(async () => expect(await holdsIn(db)).toHaveLength(1));
    await shop.stop();
    await retryNow(db);
    cure.isCured = true;
    const { models, store } = await foldNext(db, fragile, 10);
    expect(models).toMatchObject([{ data: { paid: 2, sum: 15 } }]);
    await using operator = service(db);
    await operator.perspectives.skip('fragile', 'a', { version: 2, reason });
    expect(await store()).toBeNull();
    await using again = service(db, { perspectives: [fragile] });
    await again.start();
    await eventually(async () => expect(await holdsIn(db)).toEqual([]));
    expect(await again.model(fragile).get('a')).toEqual({ paid: 1, sum: 2 });
  });

  it('an append to an inline perspective leaves out an event that was skipped, also when it could be applied', async () => {
    await using db = await createTestDatabase();
    const cure = { isCured: false };
    const inline = perspective('inline', { model: z.object({ steps: z.array(z.number()) }), inline: true })
      .starts(OrderPlaced, () => ({ steps: [] }))
      .on(OrderPaid, ({ steps }, { cents }) => {
        if (cents === 13 && !cure.isCured) throw new Error('13 is not a price');
        return { steps: [...steps, cents] };
      });
    await using shop = service(db, { perspectives: [inline] });
    await shop.start();
    await shop.events.append([placed('a'), paid('a', 13)]);
    await eventually(async () => expect(await holdsIn(db)).toHaveLength(1));
    await shop.perspectives.skip(inline, 'a', { version: 2, reason });
    await eventually(async () => expect(await holdsIn(db)).toEqual([]));
    cure.isCured = true;
    await shop.events.append(paid('a', 5));
    expect(await rowsOf(db, 'inline')).toMatchObject([{ version: '3', data: { steps: [5] } }]);
  });

  it('an event of a key that was skipped is not skipped again: the next ones stay', async () => {
    await using db = await createTestDatabase();
    const fragile = fragileRevenue({ isCured: false });
    await using shop = service(db, { perspectives: [fragile] });
    await shop.start();
    await shop.events.append([paid('a', 1), paid('a', 13), paid('a', 2), paid('a', 3)]);
    await eventually(async () => expect(await holdsIn(db)).toHaveLength(1));
    await shop.stop();
    await using operator = service(db);
    const skip = () => operator.perspectives.skip('fragile_revenue', 'small', { version: 2, reason });
    await skip();
    await expect(skip()).rejects.toMatchObject(notHeldNow);
    await using again = service(db, { perspectives: [fragile] });
    await again.start();
    await eventually(async () => expect(await holdsIn(db)).toEqual([]));
    expect(await again.model(fragile).get('small')).toEqual({ orders: 3 });
  });

  it.each([
    { what: 'stream', make: fragileOrders, id: 'a', model: { paid: 4, sum: 19 } },
    { what: 'key', make: fragileRevenue, id: 'small', model: { orders: 4 } },
  ])('an event that a retry of its $what has applied is not skipped, nor is another', async (each) => {
    await using db = await createTestDatabase();
    const cure = { isCured: false };
    const fragile = each.make(cure) as ReturnType<typeof fragileOrders>;
    await using shop = service(db, { perspectives: [fragile] });
    await shop.start();
    await shop.events.append([placed('a'), paid('a', 1), paid('a', 13), paid('a', 2), paid('a', 3)]);
    await eventually(async () => expect(await holdsIn(db)).toHaveLength(1));
    await shop.stop();
    await retryNow(db);
    cure.isCured = true;
    const { store } = await foldNext(db, fragile, 2);
    expect(await store()).not.toBeNull();
    await using operator = service(db);
    const skip = operator.perspectives.skip(fragile.name, each.id, { version: 3, reason });
    await expect(skip).rejects.toMatchObject(notHeldNow);
    await using again = service(db, { perspectives: [fragile] });
    await again.start();
    await eventually(async () => expect(await holdsIn(db)).toEqual([]));
    expect(await again.model(fragile).get(each.id)).toEqual(each.model);
  });
});
