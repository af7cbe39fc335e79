// A build that sweeps: long streams come in parts.
import { describe, expect, it } from 'vitest';
import { moveBookmark, type NextBatch, readModels, takeBookmark } from '../../src/coordinator/index.js';
import { streamIdOf } from '../../src/index.js';
import { encodeResults } from '../../src/perspectives/batch-results.js';
import { foldBatch } from '../../src/perspectives/fold-batch.js';
import { paid, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { rowsOf } from './support/orders.js';
import { key, lease, origin, poison, register, sums, unsealed } from './support/sums.js';

/** A long stream between short ones. */
async function store(db: TestDatabase, events: number): Promise<void> {
  await using shop = service(db);
  await shop.events.append([placed('first', 1), paid('first', 2)]);
  await shop.events.append([
    placed('long', 5),
    ...Array.from({ length: events - 1 }, (_, i) => paid('long', i)),
  ]);
  await shop.events.append([placed('last', 1), paid('last', 2)]);
}

/** One batch of at most ten events, or one stream. Undefined: the sweep is over. */
async function sweepOnce(db: TestDatabase, from = 0): Promise<NextBatch | undefined> {
  const of = { ...key, from };
  const taken = await takeBookmark(db.pool, 'whizbang', of, 1);
  const next = taken?.next;
  if (taken === null || next?.mode !== 'sweep') return undefined;
  const read = (ids: readonly string[]) => readModels(db.pool, 'whizbang', key.name, ids);
  const outcome = await foldBatch(sums as never, next, read, { origin, keys: unsealed as never });
  const move = {
    taken,
    next,
    results: encodeResults(next, outcome),
    leaseSeconds: 60,
    limit: 1,
    goesOn: true,
  };
  expect(await moveBookmark(db.pool, 'whizbang', of, move)).not.toBeNull();
  return next;
}

async function sweep(db: TestDatabase, from = 0): Promise<number[]> {
  const sizes: number[] = [];
  for (let next = await sweepOnce(db, from); next !== undefined; next = await sweepOnce(db, from)) {
    sizes.push(next.events.length);
  }
  return sizes;
}

const modelOf = (events: number) => {
  let cents = 5;
  for (let i = 0; i < events - 1; i++) cents = (cents * 3 + i) % 1000;
  return { cents, events };
};

describe('A long stream of a sweep', () => {
  it('a long stream comes in parts, and its model is the one that all its events make', async () => {
    await using db = await createTestDatabase();
    await store(db, 47);
    await register(db);
    expect(await sweep(db)).toEqual([2, 10, 10, 10, 10, 7, 2, 0]);
    expect(await rowsOf(db, 'sums')).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ id: streamIdOf('long'), version: '47', data: modelOf(47) }),
        expect.objectContaining({ id: streamIdOf('last'), version: '2' }),
        expect.objectContaining({ id: streamIdOf('first'), version: '2' }),
      ]),
    );
  });

  it('an event that fails in a part holds the stream, and the parts behind it wait with it', async () => {
    await using db = await createTestDatabase();
    await store(db, 47);
    poison.cents = 15; // in the second part: version 17
    await register(db);
    await sweep(db);
    poison.cents = -1;
    const { rows } = await db.pool.query(
      'select failed_version::int, last_version::int, passed_version::int from wh_perspective_checkpoints where held',
    );
    expect(rows).toEqual([{ failed_version: 17, last_version: 16, passed_version: 47 }]);
    await db.pool.query('update wh_perspective_checkpoints set retry_at = clock_timestamp()');
    await using shop = service(db, { perspectives: [sums] });
    await db.pool.query('update wh_perspective_bookmarks set instance_id = null, lease_expiry = null');
    await shop.start();
    await eventually(async () => expect(await shop.model(sums).get('long')).toEqual(modelOf(47)));
  });

  it('a range that is divided between two parts reads every event of each stream once', async () => {
    await using db = await createTestDatabase();
    await store(db, 47);
    await register(db);
    await sweepOnce(db);
    await sweepOnce(db);
    await db.pool.query('update wh_perspectives set split_wanted_at = clock_timestamp()');
    await sweepOnce(db);
    const { rows } = await db.pool.query<{ from_partition: number }>(
      'select from_partition from wh_perspective_bookmarks',
    );
    expect(rows).toHaveLength(2);
    await lease(db);
    for (const { from_partition } of rows) await sweep(db, from_partition);
    expect(await rowsOf(db, 'sums')).toHaveLength(3);
    expect(await rowsOf(db, 'sums')).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ id: streamIdOf('long'), version: '47', data: modelOf(47) }),
      ]),
    );
  });

  it('a stream that is folded again between two of its parts is not read further', async () => {
    await using db = await createTestDatabase();
    await store(db, 47);
    await register(db);
    await sweepOnce(db);
    await sweepOnce(db);
    await using shop = service(db, { perspectives: [sums] });
    await db.pool.query('update wh_perspective_bookmarks set instance_id = null, lease_expiry = null');
    const rebuilt = shop.perspectives.rebuild(sums, { streams: ['long'] });
    await eventually(async () => {
      const { rows } = await db.pool.query('select part_stream_id from wh_perspective_bookmarks');
      expect(rows).toEqual([{ part_stream_id: null }]);
    });
    await lease(db);
    expect(await sweep(db)).toEqual([2, 0]);
    await rebuilt;
    expect(await shop.model(sums).get('long')).toEqual(modelOf(47));
  });
});
