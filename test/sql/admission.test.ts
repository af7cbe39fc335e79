// Plain inserts that cannot be admitted yet must not keep others from it: one blocked key stalls no other key.
import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import {
  ids,
  it,
  type Lane,
  lanes,
  message,
  reachSchedule,
  stream,
  streamOwnedBy,
  streams,
} from '../support/work.js';

/** More than admission looks at in one call. */
const crowd = 3000;

describe.each(lanes)('Plain inserts into the %s', (lane) => {
  it('plain inserts of other streams are delivered while an application locks the version row of a crowded stream', async ({
    db,
    a,
    b,
  }) => {
    const stream_id = crypto.randomUUID();
    const application = await db.connect();
    await application.query('begin');
    await a
      .over(application)
      .call(lane.stores(message({ stream_id, is_event: true, expected_version: 0 })), lane.room(0));
    await lane.insertCrowd(db, stream_id, crowd, true);
    const others = streams(5);
    await lane.insertPlain(db.pool, ...others);
    const seen: string[] = [];
    for (let calls = 0; calls < 20; calls++) seen.push(...ids(await b.call(lane.room(100))));
    expect(seen).toEqual(expect.arrayContaining(ids(others)));
    await application.query('rollback');
  });

  it('plain inserts of other streams are delivered while a crowded stream waits for a retry', async ({
    db,
    a,
  }) => {
    const [first] = stream(1);
    if (!first?.stream_id) throw new Error('a stream');
    await a.call(lane.fails(await a.call(lane.stores(first)), { retry_after_seconds: 600 }));
    await lane.insertCrowd(db, first.stream_id, crowd);
    const others = streams(5);
    await lane.insertPlain(db.pool, ...others);
    const seen: string[] = [];
    for (let calls = 0; calls < 40; calls++) seen.push(...ids(await a.call(lane.room(100))));
    expect(seen.sort()).toEqual(ids(others).sort());
    await reachSchedule(db);
    expect((await a.call(lane.room(2)))[0]?.message_id).toBe(first.message_id);
  });

  it('plain inserts of other streams are delivered while another transaction locks a crowded stream', async ({
    db,
    a,
  }) => {
    const [first] = await a.call(lane.stores(...stream(1)));
    if (!first?.stream_id) throw new Error('a stream');
    const locker = await db.connect();
    await locker.query('begin');
    await locker.query('select from wh_active_streams where stream_id = $1 for update', [first.stream_id]);
    await lane.insertCrowd(db, first.stream_id, crowd);
    const others = streams(5);
    await lane.insertPlain(db.pool, ...others);
    const seen: string[] = [];
    for (let calls = 0; calls < 20; calls++) seen.push(...ids(await a.call(lane.room(100))));
    expect(seen.sort()).toEqual(ids(others).sort());
    await locker.query('rollback');
  });
});

/** How many messages no coordinator has admitted. */
async function unadmitted(db: TestDatabase, lane: Lane): Promise<number> {
  const { rows } = await db.pool.query(
    `select count(*)::int as count from ${lane.table} where partition_number is null`,
  );
  return rows[0].count;
}

/** How many of those no floor has passed. */
async function aboveTheFloor(db: TestDatabase, lane: Lane): Promise<number> {
  const { rows } = await db.pool.query(
    `select count(*)::int as count from ${lane.table}
     where partition_number is null and sequence_order >= (select admitted_below from wh_lanes where lane = $1)`,
    [lane.source],
  );
  return rows[0].count;
}

const takeover = { p_takeover_seconds: 0 };

describe.each(lanes)('Plain inserts into a held stream of the %s', (lane) => {
  it('plain inserts into a held stream stay unadmitted until its holder completes, then come in order', async ({
    db,
    a,
    b,
  }) => {
    const [first, ...later] = stream(3);
    const held = await a.call(lane.stores(first ?? message()));
    await lane.insertPlain(db.pool, ...later);
    expect(await b.call(takeover)).toEqual([]);
    expect(await unadmitted(db, lane)).toBe(2);
    await a.call(lane.completes(held), lane.room(0));
    expect(ids(await b.call(takeover))).toEqual(ids(later));
    expect(await unadmitted(db, lane)).toBe(0);
  });

  it.for([
    ['two messages', 2],
    ['a crowd', crowd],
  ] as const)(
    'the floors rise past %s in a held stream, and no message row is written',
    async ([, count], { db, a, b }) => {
      const [first] = stream(1);
      const held = await a.call(lane.stores(first ?? message()));
      await lane.insertCrowd(db, first?.stream_id ?? '', count);
      const inserted = await db.pool.query(`select xmin::text, message_id from ${lane.table}`);
      // Transactions of other tests on the same server may hold the floors back for a while.
      await eventually(async () => {
        // As if a moment had passed since they moved; the sweep of every minute is not due.
        await db.pool.query(`update wh_lanes set moved_at = '-infinity', swept_at = clock_timestamp()`);
        expect(await b.call(takeover)).toEqual([]);
        expect(await aboveTheFloor(db, lane)).toBe(0);
      });
      expect(await unadmitted(db, lane)).toBe(count);
      const now = await db.pool.query(`select xmin::text, message_id from ${lane.table}`);
      expect(now.rows).toEqual(inserted.rows);
      await a.call(lane.completes(held), lane.room(0));
      const [next] = await b.call(takeover, lane.room(1));
      expect(next?.message_id).toBe((await lane.rows(db))[0]?.message_id);
    },
  );

  it('a call admits no more of a crowd that can start than it hands out', async ({ db, a }) => {
    await lane.insertInto(db, Array.from({ length: 400 }, randomUUID));
    for (const handedOut of [60, 120, 180]) {
      expect(await a.call(lane.room(60))).toHaveLength(60);
      expect(400 - (await unadmitted(db, lane))).toBe(handedOut);
    }
  });

  it('the next call appends an event that was plainly inserted into a held stream', async ({ db, a, b }) => {
    const [first, second] = stream(2);
    await a.call(lane.stores(first ?? message()));
    await lane.insertPlain(db.pool, { ...message(), ...second, is_event: true });
    expect(await b.call(takeover)).toEqual([]);
    const { rows } = await db.pool.query('select event_id from wh_event_store');
    expect(rows).toEqual([{ event_id: second?.message_id }]);
  });
});

describe.each(lanes)('Plain inserts into a new stream of the %s that belongs to another instance', (lane) => {
  const arrives = async (db: TestDatabase, stream_id: string, moved: string) => {
    await lane.insertPlain(db.pool, message({ stream_id }));
    await db.pool.query('update wh_lanes set moved_at = $1', [moved]);
  };

  it('a call with work of its own does not admit an insert in another instance’s partition', async ({
    db,
    a,
    b,
  }) => {
    for (const each of [a, b]) await each.call();
    await arrives(db, await streamOwnedBy(db, a), 'infinity');
    await b.call(lane.stores(message()));
    expect(await unadmitted(db, lane)).toBe(1);
    expect(await a.call(lane.stores(message()))).toHaveLength(2);
  });

  it.for([
    ['a call without work of its own', 'infinity', false],
    ['the call that moves the floors', '-infinity', true],
  ] as const)(
    '%s admits an insert in another instance’s partition',
    async ([, moved, works], { db, a, b }) => {
      for (const each of [a, b]) await each.call();
      await arrives(db, await streamOwnedBy(db, a), moved);
      await b.call(works ? lane.stores(message()) : {});
      expect(await unadmitted(db, lane)).toBe(0);
      expect(await a.call()).toHaveLength(1);
    },
  );
});
