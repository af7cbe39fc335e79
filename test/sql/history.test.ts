// The history of finished messages: which leave a row, what it says, where it is kept and when it goes.
import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import {
  inbox,
  it,
  lanes,
  message,
  type NewMessage,
  type Parameters,
  reachSchedule,
  stream,
} from '../support/work.js';

const noRoom = { p_max_outbox_items: 0, p_max_inbox_items: 0 };
const share = (percent: number): Parameters => ({ p_flags: percent << 16 });
const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

async function history(db: TestDatabase) {
  const { rows } = await db.pool.query(
    'select h.*, tableoid::regclass::text as part from wh_history h order by sequence_order',
  );
  return rows as Record<string, unknown>[];
}

const keep = async (db: TestDatabase, days = 7) =>
  (await db.pool.query('select wh_keep_history($1) as done', [days])).rows[0].done as {
    made: number;
    dropped: number;
  };

/** Takes the days away that a test has made: the tables stay when rows are deleted. */
async function dropDays(db: TestDatabase): Promise<void> {
  const { rows } = await db.pool.query(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'wh_history'::regclass and inhrelid::regclass::text ~ '\\d{8}'`,
  );
  for (const { name } of rows) await db.pool.query(`drop table ${name}`);
}

describe.each(lanes)('The history of the $source', (lane) => {
  it('a finished message leaves no row unless the call asks for it', async ({ db, a }) => {
    const [first, second, third] = stream(3) as [NewMessage, NewMessage, NewMessage];
    await a.call(lane.stores(first, second, third));
    await a.call(lane.completes([first]));
    await a.call(lane.completes([second]), noRoom);
    await a.call(lane.completes([third]), { p_flags: 4 + (100 << 16) });
    expect(await history(db)).toEqual([]);
  });

  it('a finished message leaves a row that tells its life, without its payload', async ({ db, a }) => {
    const sent = message({ metadata: { hops: [{ service: 'shop' }], traceparent: trace } });
    await a.call(lane.stores(sent));
    await a.call(lane.fails([sent], { error: 'declined', retry_after_seconds: 60 }));
    await reachSchedule(db);
    await a.call();
    await a.call(lane.completes([sent]), share(100));
    expect(await history(db)).toMatchObject([
      {
        lane: lane.source,
        message_id: sent.message_id,
        event_type: sent.event_type,
        attempts: 1,
        failures: [{ attempt: 1, error: 'declined' }],
        instance_id: a.id,
        hops: [{ service: 'shop' }],
        traceparent: trace,
        stored_at: expect.any(Date),
        finished_at: expect.any(Date),
      },
    ]);
    expect(Object.keys((await history(db))[0] ?? {})).not.toContain('event_data');
  });

  it('messages leave a row whichever way they are finished', async ({ db, a }) => {
    const all = stream(5);
    const [first, second, third, ...others] = all as [NewMessage, NewMessage, NewMessage];
    await a.call(lane.stores(...all));
    await a.call(lane.completes([first]), share(100));
    await a.call(lane.completes([second]), noRoom, share(100));
    await a.call(lane.completes([third, ...others]), share(100));
    expect((await history(db)).map((row) => row.message_id)).toEqual(all.map(({ message_id }) => message_id));
  });

  it('a share keeps whole streams', async ({ db, a }) => {
    const all = Array.from({ length: 40 }, () => stream(2)).flat();
    await a.call(lane.stores(...all));
    await a.call(lane.completes(all), share(50));
    const counts = new Map<unknown, number>();
    for (const { stream_id } of await history(db)) counts.set(stream_id, (counts.get(stream_id) ?? 0) + 1);
    expect(new Set(counts.values())).toEqual(new Set([2]));
    expect(counts.size).toBeGreaterThan(5);
    expect(counts.size).toBeLessThan(35);
  });

  it('a message that is given back, given up or lost leaves no row', async ({ db, a, b }) => {
    const [first, second] = [message(), message()];
    await a.call(lane.stores(first, second));
    await a.call(
      lane.releases([first]),
      lane.fails([second], { dead_letter: true }),
      share(100),
      lane.room(0),
    );
    await b.call(lane.completes([first]), share(100), noRoom);
    expect(await history(db)).toEqual([]);
  });
});

describe('The days of the history', () => {
  it('today and three days more are made, once, and rows go to their day', async ({ db, a }) => {
    expect(await keep(db)).toEqual({ made: 4, dropped: 0 });
    expect(await keep(db)).toEqual({ made: 0, dropped: 0 });
    const sent = message();
    await a.call(inbox.stores(sent));
    await a.call(inbox.completes([sent]), share(100));
    expect((await history(db)).map(({ part }) => part)).toEqual([
      expect.stringMatching(/^wh_history_\d{8}$/),
    ]);
    await dropDays(db);
  });

  it('a message is finished where its day is missing, and the other days are made all the same', async ({
    db,
    a,
  }) => {
    const sent = message();
    await a.call(inbox.stores(sent));
    await a.call(inbox.completes([sent]), share(100));
    expect((await history(db)).map(({ part }) => part)).toEqual(['wh_history_rest']);
    expect(await keep(db)).toEqual({ made: 3, dropped: 0 });
    await dropDays(db);
  });

  it('a day that is over for longer than the days goes, and so does the rest of that time', async ({
    db,
  }) => {
    await db.pool.query(`
      create table wh_history_20200101 partition of wh_history for values from ('2020-01-01 00:00Z') to ('2020-01-02 00:00Z');
      insert into wh_history (finished_at, lane, message_id, event_type, target, sequence_order, status, attempts, stored_at, instance_id)
      select t, 'inbox', gen_random_uuid(), 'X', 'X', 1, 1, 0, t, gen_random_uuid()
      from unnest(array['2020-01-01 12:00Z', '2019-01-01 12:00Z', '2100-01-01 12:00Z']::timestamptz[]) t`);
    expect((await keep(db)).dropped).toBe(1);
    expect(await history(db)).toMatchObject([{ finished_at: new Date('2100-01-01T12:00:00Z') }]);
    await dropDays(db);
  });

  it('a day that a transaction reads is left for the next time', async ({ db }) => {
    await keep(db);
    await db.pool.query(
      `create table wh_history_20200101 partition of wh_history for values from ('2020-01-01 00:00Z') to ('2020-01-02 00:00Z')`,
    );
    const reader = await db.connect();
    await reader.query('begin');
    await reader.query('select count(*) from wh_history');
    expect((await keep(db)).dropped).toBe(0);
    await reader.query('commit');
    await reader.end();
    expect((await keep(db)).dropped).toBe(1);
    await dropDays(db);
  });

  it('a finished message is explained and found by its history', async ({ db, a }) => {
    const [sent] = stream(1) as [NewMessage];
    await a.call(inbox.stores(sent));
    await a.call(inbox.completes([sent]), share(100));
    const { rows: reasons } = await db.pool.query('select * from wh_explain_message($1)', [sent.message_id]);
    expect(reasons[0]).toMatchObject({
      code: 'finished',
      is_blocking: false,
      since: expect.any(Date),
      text: expect.stringMatching(`^It was handled by instance ${a.id}, [0-9.]+ s after it was stored`),
      facts: {
        lane: 'inbox',
        type: sent.event_type,
        stream_id: sent.stream_id,
        attempts: 1,
        instance_id: a.id,
      },
    });
    const { rows: found } = await db.pool.query('select * from wh_find_message($1)', [sent.message_id]);
    expect(found).toMatchObject([
      { state: 'finished', event_type: sent.event_type, stream_id: sent.stream_id },
    ]);
  });
});
