// What cannot run hides nothing: however many streams are blocked, and however much arrives in them, a call with room hands
// out what is due beside them.
import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import {
  type Instance,
  ids,
  inbox,
  it,
  type Lane,
  lanes,
  message,
  reachSchedule,
  stream,
  streams,
} from '../support/work.js';

const room = 100;

/** So many streams whose first message has failed and is tried again in an hour. */
async function blockStreams(lane: Lane, a: Instance, count: number): Promise<string[]> {
  const blocked: string[] = [];
  while (blocked.length < count) {
    const heads = await a.call(
      lane.stores(...streams(Math.min(count - blocked.length, 500))),
      lane.room(500),
    );
    await a.call(lane.fails(heads, { retry_after_seconds: 3600 }), lane.room(0));
    blocked.push(...heads.map(({ stream_id }) => stream_id as string));
  }
  return blocked;
}

/** One message into each of these streams, as any client would. */
async function arriveIn(
  db: TestDatabase,
  lane: Lane,
  streamIds: readonly string[],
  isEvent = false,
): Promise<void> {
  await db.pool.query(
    `insert into ${lane.table} (message_id, ${lane.target}, event_type, event_data, stream_id, is_event)
     select gen_random_uuid(), 'orders', 'shop.OrderPlaced', '{}', s, $2 from unnest($1::uuid[]) s`,
    [streamIds, isEvent],
  );
}

async function arriveBehind(db: TestDatabase, lane: Lane, streamId: string, count: number): Promise<void> {
  await arriveIn(
    db,
    lane,
    Array.from({ length: count }, () => streamId),
  );
}

async function blockedCount(db: TestDatabase): Promise<number> {
  const { rows } = await db.pool.query(
    'select count(*)::int as count from wh_active_streams where is_blocked',
  );
  return rows[0].count;
}

describe.each(lanes)('In the %s, fresh messages', (lane) => {
  it('are handed out by the next call beside 20 000 blocked streams with a message behind each head', async ({
    db,
    a,
  }) => {
    const blocked = await blockStreams(lane, a, 20_000);
    await arriveIn(db, lane, blocked);
    const fresh = streams(1_000);
    await arriveIn(
      db,
      lane,
      fresh.map(({ stream_id }) => stream_id as string),
    );
    const seen = new Set<string | null>();
    for (let calls = 0; calls < 10; calls++) {
      const items = await a.call(lane.room(room));
      expect(items).toHaveLength(room);
      for (const { stream_id } of items) seen.add(stream_id);
    }
    expect([...seen].sort()).toEqual(fresh.map(({ stream_id }) => stream_id).sort());
    expect(await blockedCount(db)).toBe(20_000);
  });

  it('are handed out by the next call behind 20 000 events that wait to be appended in blocked streams', async ({
    db,
    a,
  }) => {
    const blocked = await blockStreams(lane, a, 2_000);
    for (let round = 0; round < 10; round++) await arriveIn(db, lane, blocked, true);
    const fresh = streams(50);
    await lane.insertPlain(db.pool, ...fresh);
    expect(ids(await a.call(lane.room(room))).sort()).toEqual(ids(fresh).sort());
  });

  it('are handed out by the next call beside one blocked stream with 20 000 messages behind its head', async ({
    db,
    a,
  }) => {
    const [blocked = ''] = await blockStreams(lane, a, 1);
    await arriveBehind(db, lane, blocked, 20_000);
    const fresh = streams(50);
    await lane.insertPlain(db.pool, ...fresh);
    expect(ids(await a.call(lane.room(room))).sort()).toEqual(ids(fresh).sort());
  });
});

describe('A message that the caller has the handler for', () => {
  it('is handed out by the next call, with room for one, behind 5 000 streams that are for others', async ({
    db,
    a,
  }) => {
    const lane = inbox;
    await arriveIn(
      db,
      lane,
      streams(5_000).map(({ stream_id }) => stream_id as string),
    );
    const mine = message({ stream_id: crypto.randomUUID() });
    await db.pool.query(
      `insert into wh_inbox (message_id, handler_name, event_type, event_data, stream_id) values ($1, 'mine', 'x', '{}', $2)`,
      [mine.message_id, mine.stream_id],
    );
    expect(ids(await a.call(lane.room(1), { p_inbox_handlers: ['mine'] }))).toEqual(ids([mine]));
  });
});

describe.each(lanes)('In the %s, an arrival', (lane) => {
  it('behind a message that waits for its retry changes nothing, and is handed out behind it', async ({
    db,
    a,
  }) => {
    const [first, ...later] = stream(3);
    await a.call(lane.fails(await a.call(lane.stores(first ?? message())), { retry_after_seconds: 3600 }));
    const before = await db.pool.query('select xmin::text, * from wh_active_streams');
    await lane.insertPlain(db.pool, ...later);
    // As if they had waited since the floors were last moved: they are admitted.
    await db.pool.query('update wh_lanes set next_admitted_below = 9223372036854775807');
    for (let calls = 0; calls < 3; calls++) expect(await a.call()).toEqual([]);
    expect((await lane.rows(db, later)).filter(({ partition_number }) => partition_number === null)).toEqual(
      [],
    );
    expect((await db.pool.query('select xmin::text, * from wh_active_streams')).rows).toEqual(before.rows);
    await reachSchedule(db);
    expect(ids(await a.call())).toEqual([first?.message_id, ...ids(later)]);
  });

  it('behind a message that is stored for later is handed out behind it', async ({ db, a }) => {
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const [first, second] = stream(2);
    await a.call(lane.stores({ ...message(), ...first, scheduled_for: at }));
    await lane.insertPlain(db.pool, second ?? message());
    expect(await a.call()).toEqual([]);
    await reachSchedule(db);
    expect(ids(await a.call())).toEqual([first?.message_id, second?.message_id]);
  });

  it('that took its order before a message stored for later, and commits after it, is handed out at once', async ({
    db,
    a,
  }) => {
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const [early, late] = stream(2);
    const writer = await db.connect();
    await writer.query('begin');
    await lane.insertPlain(writer, early ?? message());
    await a.call(lane.stores({ ...message(), ...late, scheduled_for: at }));
    await writer.query('commit');
    expect(ids(await a.call())).toEqual([early?.message_id]);
  });

  it('that took its order before one that is plainly inserted for later, and commits after it was looked at, is handed out at once', async ({
    db,
    a,
  }) => {
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const [early, late] = stream(2);
    const writer = await db.connect();
    await writer.query('begin');
    await lane.insertPlain(writer, early ?? message());
    await lane.insertPlain(db.pool, { ...message(), ...late, scheduled_for: at });
    expect(await a.call()).toEqual([]);
    await writer.query('commit');
    expect(ids(await a.call())).toEqual([early?.message_id]);
  });

  it('that its stream waits for, as it could not be appended to the event store, is handed out by the call that appends it', async ({
    db,
    a,
  }) => {
    const [sent] = stream(1, { is_event: true });
    const application = await db.connect();
    await application.query('begin');
    await application.query('insert into wh_event_streams values ($1, 0)', [sent?.stream_id]);
    await lane.insertPlain(db.pool, sent ?? message());
    expect(await a.call()).toEqual([]);
    await application.query('rollback');
    // As if it had to wait for long: nobody waits for the time, as the event can be appended now.
    await db.pool.query(`update wh_active_streams set is_blocked = true, available_at = now() + interval '1 hour', head = (
      select sequence_order from ${lane.table})`);
    expect(ids(await a.call())).toEqual([sent?.message_id]);
  });
});

describe('A call that could only tidy up', () => {
  it('says so to who asks for it, until there is nothing more to tidy up', async ({ db, a }) => {
    const [lane] = lanes as [Lane];
    const [blocked = ''] = await blockStreams(lane, a, 1);
    await arriveBehind(db, lane, blocked, 12_000);
    const told: boolean[] = [];
    for (let calls = 0; calls < 6; calls++) {
      const rows = await a.call(lane.room(room), { p_flags: 128 });
      expect(rows.filter(({ flags }) => flags !== 128)).toEqual([]);
      told.push(rows.length > 0);
    }
    expect(told.slice(0, 2)).toEqual([true, true]);
    expect(told.at(-1)).toBe(false);
  });

  it('does not say so to who has not asked', async ({ db, a }) => {
    const [lane] = lanes as [Lane];
    const [blocked = ''] = await blockStreams(lane, a, 1);
    await arriveBehind(db, lane, blocked, 12_000);
    expect(await a.call(lane.room(room))).toEqual([]);
  });
});
