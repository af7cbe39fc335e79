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

async function blockedCount(db: TestDatabase): Promise<number> {
  const { rows } = await db.pool.query(
    'select count(*)::int as count from wh_active_streams where is_blocked',
  );
  return rows[0].count;
}

describe.each(lanes)('Fresh messages in the %s', (lane) => {
  it('the next calls hand out fresh messages beside 20 000 blocked streams with a message behind each head', async ({
    db,
    a,
  }) => {
    const blocked = await blockStreams(lane, a, 20_000);
    await lane.insertInto(db, blocked);
    const fresh = streams(1_000);
    await lane.insertInto(
      db,
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

  it('the next call hands out fresh messages behind 20 000 unappended events of blocked streams', async ({
    db,
    a,
  }) => {
    const blocked = await blockStreams(lane, a, 2_000);
    for (let round = 0; round < 10; round++) await lane.insertInto(db, blocked, true);
    const fresh = streams(50);
    await lane.insertPlain(db.pool, ...fresh);
    expect(ids(await a.call(lane.room(room))).sort()).toEqual(ids(fresh).sort());
  });

  it('the next call hands out fresh messages beside a blocked stream with 20 000 messages behind its head', async ({
    db,
    a,
  }) => {
    const [blocked = ''] = await blockStreams(lane, a, 1);
    await lane.insertCrowd(db, blocked, 20_000);
    const fresh = streams(50);
    await lane.insertPlain(db.pool, ...fresh);
    expect(ids(await a.call(lane.room(room))).sort()).toEqual(ids(fresh).sort());
  });
});

it('a call with room for one finds a message for its handler behind 5 000 streams for others', async ({
  db,
  a,
}) => {
  const lane = inbox;
  await lane.insertInto(
    db,
    streams(5_000).map(({ stream_id }) => stream_id as string),
  );
  const mine = message({ stream_id: crypto.randomUUID() });
  await db.pool.query(
    `insert into wh_inbox (message_id, handler_name, event_type, event_data, stream_id) values ($1, 'mine', 'x', '{}', $2)`,
    [mine.message_id, mine.stream_id],
  );
  expect(ids(await a.call(lane.room(1), { p_inbox_handlers: ['mine'] }))).toEqual(ids([mine]));
});

describe.each(lanes)('Arrivals in the %s', (lane) => {
  it('an arrival behind a message that waits for its retry writes nothing, and is handed out behind it', async ({
    db,
    a,
  }) => {
    const [first, ...later] = stream(3);
    await a.call(lane.fails(await a.call(lane.stores(first ?? message())), { retry_after_seconds: 3600 }));
    await lane.insertPlain(db.pool, ...later);
    const rows = async () => [
      ...(await db.pool.query('select xmin::text, * from wh_active_streams')).rows,
      ...(await db.pool.query(`select xmin::text, * from ${lane.table} order by sequence_order`)).rows,
    ];
    const before = await rows();
    for (let calls = 0; calls < 5; calls++) {
      await db.pool.query(`update wh_lanes set moved_at = '-infinity'`); // the floors may move
      expect(await a.call()).toEqual([]);
    }
    expect(await rows()).toEqual(before);
    await reachSchedule(db);
    expect(ids(await a.call())).toEqual([first?.message_id, ...ids(later)]);
  });

  it('an arrival behind a scheduled message is handed out behind it', async ({ db, a }) => {
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const [first, second] = stream(2);
    await a.call(lane.stores({ ...message(), ...first, scheduled_for: at }));
    await lane.insertPlain(db.pool, second ?? message());
    expect(await a.call()).toEqual([]);
    await reachSchedule(db);
    expect(ids(await a.call())).toEqual([first?.message_id, second?.message_id]);
  });

  it('an earlier message that commits after a stored scheduled one is handed out at once', async ({
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

  it('an earlier message that commits after a plainly inserted scheduled one is handed out at once', async ({
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

  it('an event that could not be appended is handed out by the call that appends it', async ({ db, a }) => {
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

/** As if so little could be looked at within the second that a call takes for it. */
async function lookBriefly(db: TestDatabase): Promise<void> {
  const name = 'wh_arrivals_beyond_outbox';
  const { rows } = await db.pool.query('select pg_get_functiondef($1::regproc) as text', [name]);
  const brief = rows[0].text.replace(`interval '1 second'`, `interval '1 microsecond'`);
  expect(brief).toContain('1 microsecond');
  await db.pool.query(brief);
}

describe('A call that could only tidy up', () => {
  it('a call that could only tidy up tells a caller that asks, until nothing is left', async ({ db, a }) => {
    const [lane] = lanes as [Lane];
    const [blocked = ''] = await blockStreams(lane, a, 1);
    await lane.insertCrowd(db, blocked, 12_000);
    await lookBriefly(db);
    const told: boolean[] = [];
    for (let calls = 0; calls < 6; calls++) {
      const rows = await a.call(lane.room(room), { p_flags: 128 });
      expect(rows.filter(({ flags }) => flags !== 128)).toEqual([]);
      told.push(rows.length > 0);
    }
    expect(told).toEqual([true, true, true, false, false, false]);
  });

  it('a call that could only tidy up tells nothing to a caller that has not asked', async ({ db, a }) => {
    const [lane] = lanes as [Lane];
    const [blocked = ''] = await blockStreams(lane, a, 1);
    await lane.insertCrowd(db, blocked, 12_000);
    await lookBriefly(db);
    expect(await a.call(lane.room(room))).toEqual([]);
  });
});
