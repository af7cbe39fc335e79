import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type BookmarkKey,
  moveBookmark,
  type NextBatch,
  readModels,
  type TakenBookmark,
  takeBookmark,
} from '../../src/coordinator/index.js';
import { keyedPerspective, newMessageId } from '../../src/index.js';
import { encodeResults } from '../../src/perspectives/batch-results.js';
import { foldBatch } from '../../src/perspectives/fold-batch.js';
import { OrderPlaced, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { holdsIn, retryNow } from './support/holds.js';
import { rowsOf } from './support/orders.js';

const trouble = { isOn: true };
const amounts = keyedPerspective('amounts', {
  model: z.object({ cents: z.array(z.number()) }),
  initial: { cents: [] },
}).on(
  OrderPlaced,
  () => 'all',
  (before, { cents }) => {
    if (trouble.isOn) throw new Error('not yet');
    return { cents: [...before.cents, cents] };
  },
);

type Taken = TakenBookmark & { readonly next: NextBatch };
const limit = 2;

/** Folds what was taken. Returns a function that stores it, as often as it is called. */
async function fold(db: TestDatabase, key: BookmarkKey, taken: Taken) {
  const { next } = taken;
  const read = (ids: readonly string[]) => readModels(db.pool, 'whizbang', key.name, ids);
  const origin = { service: 'shop', instanceId: key.instanceId };
  const outcome = await foldBatch(amounts, next, read, {
    origin: origin as never,
    keys: { openEvents: async (rows) => rows },
  });
  const move = { taken, next, results: encodeResults(next, outcome), leaseSeconds: 60, limit, goesOn: true };
  return () => moveBookmark(db.pool, 'whizbang', key, move);
}

describe('A bookmark that stays where it is while a held model is tried again', () => {
  it('a move that comes late stores nothing, though its instance holds the bookmark at the same place', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { perspectives: [amounts] });
    await shop.start();
    for (let i = 1; i <= 6; i++) await shop.events.append(placed(`o${i}`, i));
    await eventually(async () => {
      expect(await holdsIn(db)).toMatchObject([{ key: 'all' }]);
      const { rows } = await db.pool.query(
        'select from wh_perspective_bookmarks b where b.upto < (select max(high) from wh_event_ticks)',
      );
      expect(rows).toEqual([]);
    });
    await shop.stop();
    trouble.isOn = false;
    await retryNow(db);
    const key = { instanceId: newMessageId(), name: 'amounts@1', from: 0 };
    await db.pool.query(
      `update wh_perspective_bookmarks set instance_id = $1, lease_expiry = clock_timestamp() + interval '1 hour'`,
      [key.instanceId],
    );
    const first = (await takeBookmark(db.pool, 'whizbang', key, limit)) as Taken;
    const late = await fold(db, key, first);
    const second = (await late()) as Taken;
    expect(second).toMatchObject({ tick: first.tick, upto: first.upto, next: { mode: 'held' } });
    const third = (await (await fold(db, key, second))()) as Taken;
    expect(await late()).toBeNull();
    let taken: TakenBookmark | null = third;
    while (taken?.next != null) taken = await (await fold(db, key, taken as Taken))();
    expect(await holdsIn(db)).toEqual([]);
    expect(await rowsOf(db, 'amounts')).toMatchObject([
      { version: '6', data: { cents: [1, 2, 3, 4, 5, 6] } },
    ]);
  });
});
