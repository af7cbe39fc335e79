// Plain inserts that cannot be admitted yet must not keep others from it: one blocked key stalls no other key.
import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { ids, it, type Lane, lanes, message, reachSchedule, stream, streams } from '../support/work.js';

/** More than admission looks at in one call, all of one stream. */
async function insertMany(db: TestDatabase, lane: Lane, stream_id: string, isEvent: boolean): Promise<void> {
  await db.pool.query(
    `insert into ${lane.table} (message_id, ${lane.target}, event_type, event_data, stream_id, is_event)
     select gen_random_uuid(), 'orders', 'shop.OrderPlaced', '{}', $1, $2 from generate_series(1, 3000)`,
    [stream_id, isEvent],
  );
}

describe.each(lanes)('In the %s, plain inserts', (lane) => {
  it('of other streams are delivered while an application holds the version of a crowded stream', async ({
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
    await insertMany(db, lane, stream_id, true);
    const others = streams(5);
    await lane.insertPlain(db.pool, ...others);
    const seen: string[] = [];
    for (let calls = 0; calls < 20; calls++) seen.push(...ids(await b.call(lane.room(100))));
    expect(seen).toEqual(expect.arrayContaining(ids(others)));
    await application.query('rollback');
  });

  it('of other streams are delivered while a crowded stream waits for a retry', async ({ db, a }) => {
    const [first] = stream(1);
    if (!first?.stream_id) throw new Error('a stream');
    await a.call(lane.fails(await a.call(lane.stores(first)), { retry_after_seconds: 600 }));
    await insertMany(db, lane, first.stream_id, false);
    const others = streams(5);
    await lane.insertPlain(db.pool, ...others);
    const seen: string[] = [];
    for (let calls = 0; calls < 40; calls++) seen.push(...ids(await a.call(lane.room(100))));
    expect(seen.sort()).toEqual(ids(others).sort());
    await reachSchedule(db);
    expect((await a.call(lane.room(2)))[0]?.message_id).toBe(first.message_id);
  });

  it('of other streams are delivered while another call has a crowded stream locked', async ({ db, a }) => {
    const [first] = await a.call(lane.stores(...stream(1)));
    if (!first?.stream_id) throw new Error('a stream');
    const locker = await db.connect();
    await locker.query('begin');
    await locker.query('select from wh_active_streams where stream_id = $1 for update', [first.stream_id]);
    await insertMany(db, lane, first.stream_id, false);
    const others = streams(5);
    await lane.insertPlain(db.pool, ...others);
    const seen: string[] = [];
    for (let calls = 0; calls < 20; calls++) seen.push(...ids(await a.call(lane.room(100))));
    expect(seen.sort()).toEqual(ids(others).sort());
    await locker.query('rollback');
  });
});
