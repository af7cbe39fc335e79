// What an operator pauses: a type, a stream, the intake. Nothing of it is handed out, nothing is lost, and its order holds.
import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { listen } from '../support/listener.js';
import {
  expireLeases,
  ids,
  inbox,
  it,
  lanes,
  message,
  type NewMessage,
  outbox,
  stream,
} from '../support/work.js';

const handles = (...names: string[]) => ({ p_inbox_handlers: names });
const forHandler = (handler_name: string, fields: Partial<NewMessage> = {}) =>
  ({ ...message(fields), handler_name }) as NewMessage;
const takeover = { p_takeover_seconds: 0 };
const asks = async (db: TestDatabase, call: string, ...values: unknown[]) => {
  const { rows } = await db.pool.query(`select ${call} as answer`, values);
  return rows[0].answer as unknown;
};
const pause = (db: TestDatabase, kind: string, name?: string | null) =>
  asks(db, 'wh_pause($1, $2)', kind, name ?? null);
const resume = (db: TestDatabase, kind: string, name?: string | null) =>
  asks(db, 'wh_resume($1, $2)', kind, name ?? null);
const streamRow = async (db: TestDatabase, streamId: unknown) =>
  (await db.pool.query('select * from wh_active_streams where stream_id = $1', [streamId])).rows;

describe('A paused type', () => {
  it('a message of a paused type is handed out to nobody, and to its handler once it is resumed', async ({
    db,
    a,
    b,
  }) => {
    const [paused, other] = [forHandler('slow'), forHandler('quick')];
    expect(await pause(db, 'type', 'slow')).toBe(true);
    expect(await pause(db, 'type', 'slow')).toBe(false);
    await inbox.insertPlain(db.pool, paused, other);
    expect(ids(await a.call(handles('slow', 'quick')))).toEqual([other.message_id]);
    expect(await b.call(takeover)).toEqual([]);
    expect(await a.call(inbox.stores(forHandler('slow')), handles('slow'))).toEqual([]);
    expect(await resume(db, 'type', 'slow')).toBe(true);
    expect(await resume(db, 'type', 'slow')).toBe(false);
    expect(await b.call(handles('slow'), takeover)).toHaveLength(2);
  });

  it('a stream stands still at a message of a paused type, and goes on in order', async ({ db, a }) => {
    const stream_id = stream(1)[0]?.stream_id ?? null;
    const all = ['quick', 'slow', 'quick'].map((name) => forHandler(name, { stream_id }));
    await pause(db, 'type', 'slow');
    await inbox.insertPlain(db.pool, ...all);
    const [first] = await a.call(handles('slow', 'quick'));
    expect(first?.message_id).toBe(all[0]?.message_id);
    expect(await a.call(inbox.completes([first as never]), handles('slow', 'quick'))).toEqual([]);
    await resume(db, 'type', 'slow');
    expect(ids(await a.call(handles('slow', 'quick')))).toEqual(ids(all.slice(1)));
  });

  it('a caller that names no handlers gets all but the paused types', async ({ db, a }) => {
    await pause(db, 'type', 'slow');
    const other = forHandler('quick');
    await inbox.insertPlain(db.pool, forHandler('slow'), other);
    expect(ids(await a.call())).toEqual([other.message_id]);
    await resume(db, 'type', 'slow');
    expect(await a.call()).toHaveLength(1);
  });

  it('a limit of a paused type lets nothing in', async ({ db, a }) => {
    await inbox.insertPlain(db.pool, forHandler('slow'));
    await pause(db, 'type', 'slow');
    const limits = { p_inbox_limits: JSON.stringify({ slow: 5, 'slow\u001fkey': 5 }) };
    expect(await a.call(handles(), limits)).toEqual([]);
    await resume(db, 'type', 'slow');
    expect(await a.call(handles(), limits)).toHaveLength(1);
  });

  it('a pause outlasts a truncate of the other tables', async ({ db, a }) => {
    await pause(db, 'type', 'slow');
    await db.pool.query('delete from wh_lanes');
    await inbox.insertPlain(db.pool, forHandler('slow'));
    expect(await a.call(handles('slow'))).toEqual([]);
    await resume(db, 'type', 'slow');
    expect(await a.call(handles('slow'))).toHaveLength(1);
  });
});

describe('A paused intake', () => {
  it('an instance gets nothing of the inbox while the intake is paused, and all of the outbox', async ({
    db,
    a,
  }) => {
    const sent = message();
    await pause(db, 'intake');
    await inbox.insertPlain(db.pool, message());
    await outbox.insertPlain(db.pool, sent);
    expect(ids(await a.call(inbox.stores(message())))).toEqual([sent.message_id]);
    expect(await resume(db, 'intake')).toBe(true);
    expect(await a.call()).toHaveLength(2);
  });

  it('an instance finishes what it has while the intake is paused', async ({ db, a }) => {
    const items = await a.call(inbox.stores(...stream(3)));
    await pause(db, 'intake');
    const [first, ...rest] = items;
    expect(await a.call(inbox.completes([first as never]), inbox.renews(rest))).toEqual([]);
    expect(await a.call(inbox.completes(rest))).toEqual([]);
    expect(await inbox.rows(db)).toEqual([]);
  });

  it('resuming notifies those who sleep', async ({ db }) => {
    const sleeper = await listen(db);
    await pause(db, 'intake');
    await sleeper.fallAsleep();
    await resume(db, 'intake');
    expect(await sleeper.heard()).toBe(1);
  });
});

describe.each(lanes)('A paused stream in the %s', (lane) => {
  it('a paused stream hands nothing out, whatever arrives, and goes on in order when it is resumed', async ({
    db,
    a,
    b,
  }) => {
    const all = stream(4);
    const streamId = all[0]?.stream_id;
    await lane.insertPlain(db.pool, all[0] as never);
    expect(await pause(db, 'stream', streamId)).toBe(true);
    expect(await pause(db, 'stream', streamId)).toBe(false);
    expect(await a.call()).toEqual([]);
    await lane.insertPlain(db.pool, all[1] as never);
    expect(await b.call(takeover)).toEqual([]);
    expect(await a.call(lane.stores(...all.slice(2)))).toEqual([]);
    expect(await a.call(takeover)).toEqual([]);
    expect(await resume(db, 'stream', streamId)).toBe(true);
    expect(ids(await a.call(takeover))).toEqual(ids(all));
  });

  it('a stream that is paused while it is held finishes what was handed out, and then stands still', async ({
    db,
    a,
    b,
  }) => {
    const all = stream(5);
    const streamId = all[0]?.stream_id;
    const items = await a.call(lane.stores(...all.slice(0, 3)));
    await pause(db, 'stream', streamId);
    expect(await a.call(lane.stores(...all.slice(3)), { p_flags: 512 })).toEqual([]);
    expect(await a.call(lane.completes(items.slice(0, 1)), lane.renews(items.slice(1)))).toEqual([]);
    expect(await a.call(lane.fails(items.slice(1, 2), { retry_after_seconds: 0 }))).toEqual([]);
    expect(await a.call(lane.completes(items.slice(2)))).toEqual([]);
    expect(await b.call(takeover)).toEqual([]);
    expect(await streamRow(db, streamId)).toMatchObject([{ instance_id: null, is_blocked: true }, {}]);
    await resume(db, 'stream', streamId);
    expect(ids(await b.call(takeover))).toEqual([all[1], all[3], all[4]].map((each) => each?.message_id));
  });

  it('a stream that is paused and emptied stays paused, and its rows go when it is resumed', async ({
    db,
    a,
  }) => {
    const [one, late] = stream(2);
    const streamId = one?.stream_id;
    const items = await a.call(lane.stores(one as never));
    await pause(db, 'stream', streamId);
    await a.call(lane.completes(items));
    expect(await a.call(lane.stores(late as never))).toEqual([]);
    await resume(db, 'stream', streamId);
    const again = await a.call();
    expect(ids(again)).toEqual([late?.message_id]);
    await a.call(lane.completes(again));
    await pause(db, 'stream', streamId);
    await resume(db, 'stream', streamId);
    expect(await streamRow(db, streamId)).toEqual([]);
    expect(await lane.rows(db)).toEqual([]);
  });

  it('a paused stream whose holder has died is given to nobody', async ({ db, a, b }) => {
    const all = stream(2);
    await a.call(lane.stores(...all));
    await pause(db, 'stream', all[0]?.stream_id);
    await expireLeases(db, a);
    expect(await b.call()).toEqual([]);
    expect(await a.call(lane.renews(all))).toHaveLength(2);
    await resume(db, 'stream', all[0]?.stream_id);
    expect(ids(await b.call(takeover))).toEqual(ids(all));
  });

  it('a message that commits late does not start a paused stream', async ({ db, a }) => {
    const [early, late] = stream(2);
    const writer = await db.connect();
    await writer.query('begin');
    await lane.insertPlain(writer, early as never);
    await lane.insertPlain(db.pool, late as never);
    await pause(db, 'stream', early?.stream_id);
    expect(await a.call()).toEqual([]);
    await writer.query('commit');
    await writer.end();
    expect(await a.call()).toEqual([]);
    await resume(db, 'stream', early?.stream_id);
    expect(ids(await a.call())).toEqual([early?.message_id, late?.message_id]);
  });
});

describe('What is paused', () => {
  it('a pause is refused unless it names a type, a stream or the intake', async ({ db }) => {
    for (const [kind, name] of [
      ['lane', 'x'],
      ['type', ''],
      ['stream', 'order-1'],
      ['intake', 'x'],
    ]) {
      await expect(pause(db, kind as string, name)).rejects.toMatchObject({ code: 'WB001' });
    }
  });

  it('the views and wh_find_message call a paused stream paused, and show no bar', async ({ db, a }) => {
    const all = stream(2);
    await inbox.insertPlain(db.pool, ...all);
    await pause(db, 'stream', all[0]?.stream_id);
    await a.call();
    const { rows } = await db.pool.query(
      `select state, first_message_id, depth, due_at from wh_stream_status where lane = 'inbox'`,
    );
    expect(rows).toEqual([
      { state: 'paused', first_message_id: all[0]?.message_id, depth: '2', due_at: null },
    ]);
    const lane = await db.pool.query(
      `select paused_streams, scheduled_streams, next_scheduled_at from wh_lane_status where lane = 'inbox'`,
    );
    expect(lane.rows).toEqual([{ paused_streams: '1', scheduled_streams: '0', next_scheduled_at: null }]);
    const blocked = await db.pool.query(`select reason, until from wh_blocked_streams where lane = 'inbox'`);
    expect(blocked.rows).toEqual([{ reason: 'paused', until: null }]);
    const found = await db.pool.query('select state from wh_find_message($1)', [all[1]?.message_id]);
    expect(found.rows).toEqual([{ state: 'paused' }]);
    const bar = await db.pool.query('select message_id from wh_inbox where status = 0');
    const barId = bar.rows[0].message_id;
    expect(await asks(db, 'wh_retry_now($1)', barId)).toBe(false);
    expect(await asks(db, 'wh_cancel_message($1)', barId)).toBe(false);
    expect(await asks(db, 'wh_give_up($1)', barId)).toBe(false);
  });
});
