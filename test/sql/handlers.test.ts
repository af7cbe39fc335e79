// An instance is handed only messages that it has a handler for, never anything behind one that it has not; what it leaves is
// found by those that have the handler, at once, and costs it nothing more.
import { describe, expect } from 'vitest';
import { begin } from '../races/transactions.js';
import type { TestDatabase } from '../support/database.js';
import { listen } from '../support/listener.js';
import {
  expireLeases,
  ids,
  inbox,
  it,
  message,
  type NewMessage,
  outbox,
  stream,
  streamOwnedBy,
  streams,
} from '../support/work.js';

const handles = (...names: string[]) => ({ p_inbox_handlers: names });
const forHandler = (handler_name: string, fields: Partial<NewMessage> = {}) =>
  ({ ...message(fields), handler_name }) as NewMessage;
const waiting = async (db: TestDatabase) => {
  const { rows } = await db.pool.query(
    'select stream_id, waits_for from wh_active_streams where waits_for is not null order by waits_for',
  );
  return rows as { stream_id: string; waits_for: string }[];
};
const takeover = { p_takeover_seconds: 0 };

describe('A name that no index takes', () => {
  it('a name of more than 1000 bytes is refused where its message is stored', async ({ db }) => {
    const long = 'ü'.repeat(501);
    await expect(inbox.insertPlain(db.pool, forHandler(long))).rejects.toThrow('wh_inbox_names');
    await expect(
      outbox.insertPlain(db.pool, { ...message(), destination: long } as NewMessage),
    ).rejects.toThrow('wh_outbox_names');
    await inbox.insertPlain(db.pool, forHandler('ü'.repeat(500)));
  });
});

describe('A call with a list of handlers', () => {
  it('a call with a list of handlers gets the inbox messages for them, and all of the outbox', async ({
    db,
    a,
  }) => {
    const [mine, other] = [forHandler('mine'), forHandler('other')];
    const sent = message();
    await inbox.insertPlain(db.pool, mine, other);
    await outbox.insertPlain(db.pool, sent);
    const items = await a.call(handles('mine', 'more'));
    expect(ids(items).sort()).toEqual([mine.message_id, sent.message_id].sort());
  });

  it('a call with an empty list of handlers gets nothing of the inbox', async ({ db, a }) => {
    await inbox.insertPlain(db.pool, message());
    expect(await a.call(handles())).toEqual([]);
    expect(await a.call(takeover)).toHaveLength(1);
  });

  it('a call gets a stream up to the first message that it has no handler for', async ({ db, a, b }) => {
    const stream_id = stream(1)[0]?.stream_id ?? null;
    const all = ['mine', 'mine', 'other', 'mine'].map((name) => forHandler(name, { stream_id }));
    await inbox.insertPlain(db.pool, ...all);
    const items = await a.call(handles('mine'));
    expect(ids(items)).toEqual(ids(all.slice(0, 2)));
    expect(await a.call(inbox.completes(items), handles('mine'))).toEqual([]);
    expect(await a.call(handles('mine'), takeover)).toEqual([]);
    const third = await b.call(handles('other'));
    expect(ids(third)).toEqual([all[2]?.message_id]);
    expect(ids(await a.call(handles('mine'), takeover))).toEqual([]);
    await b.call(inbox.completes(third), inbox.room(0));
    expect(ids(await a.call(handles('mine'), takeover))).toEqual([all[3]?.message_id]);
  });

  it('a call finds a message for its handler behind a crowd for other handlers', async ({ db, a }) => {
    await inbox.insertPlain(
      db.pool,
      ...streams(60).map(({ stream_id }) => forHandler('other', { stream_id: stream_id ?? null })),
    );
    const mine = forHandler('mine');
    await inbox.insertPlain(db.pool, mine);
    expect(ids(await a.call(handles('mine'), inbox.room(5)))).toEqual([mine.message_id]);
    expect(await waiting(db)).toHaveLength(60);
  });

  it('a stream that a call left for want of a handler is not written again by the next', async ({
    db,
    a,
  }) => {
    await inbox.insertPlain(db.pool, ...streams(5).map(() => forHandler('other')));
    await a.call(handles('mine'));
    const before = await db.pool.query('select ctid, * from wh_active_streams order by stream_id');
    await a.call(handles('mine'), takeover);
    expect((await db.pool.query('select ctid, * from wh_active_streams order by stream_id')).rows).toEqual(
      before.rows,
    );
  });

  it('a message that is not due does not wait for a handler', async ({ db, a, b }) => {
    const later = forHandler('other', { scheduled_for: new Date(Date.now() + 60_000).toISOString() });
    await inbox.insertPlain(db.pool, later);
    expect(await a.call(handles('mine'))).toEqual([]);
    expect(await waiting(db)).toEqual([]);
    expect(await b.call(handles('other'), takeover)).toEqual([]);
  });
});

describe('Streams that wait for a handler', () => {
  it('any instance with the handler takes a stream that waits for it, whoever owns the partition', async ({
    db,
    a,
    b,
  }) => {
    await a.call();
    await b.call();
    const sent = forHandler('other', { stream_id: await streamOwnedBy(db, a) });
    await inbox.insertPlain(db.pool, sent);
    await a.call(handles('mine'));
    expect(await waiting(db)).toEqual([{ stream_id: sent.stream_id, waits_for: 'other' }]);
    expect(ids(await b.call(handles('else', 'other')))).toEqual(ids([sent]));
    expect(await waiting(db)).toEqual([]);
  });

  it('a stream that is left for want of a handler keeps its time of waiting', async ({ db, a }) => {
    await inbox.insertPlain(db.pool, forHandler('other'));
    await db.pool.query(
      `select from process_work_batch($1, 's', 'h', 1, p_max_inbox_items => 1, p_takeover_seconds => 1000)`,
      ['0190aaaa-0000-7000-8000-000000000009'],
    );
    await db.pool.query(
      `update wh_active_streams set instance_id = null, lease_expiry = null, available_at = now() - interval '9 minutes';
       update wh_inbox set instance_id = null, lease_expiry = null;
       update wh_lanes set free_from = '-infinity'`,
    );
    await a.call(handles('mine'), takeover);
    const { rows } = await db.pool.query(
      `select now() - available_at > interval '8 minutes' as kept from wh_active_streams where waits_for is not null`,
    );
    expect(rows).toEqual([{ kept: true }]);
  });

  it('a caller without a list of handlers takes streams that wait for any handler', async ({ db, a, b }) => {
    const all = ['x', 'y', 'z', 'x'].map((name) => forHandler(name));
    await inbox.insertPlain(db.pool, ...all);
    await a.call(handles('mine'));
    expect(await waiting(db)).toHaveLength(4);
    expect(ids(await b.call(inbox.room(10))).sort()).toEqual(ids(all).sort());
    expect(await waiting(db)).toEqual([]);
  });

  it('a call that leaves a stream for want of a handler wakes all sleepers, once', async ({ db, a }) => {
    await inbox.insertPlain(db.pool, forHandler('other'));
    const sleepers = [await listen(db), await listen(db)];
    for (const sleeper of sleepers) await sleeper.fallAsleep();
    const heard = () => Promise.all(sleepers.map((sleeper) => sleeper.heard()));
    await a.call(handles('mine'));
    expect(await heard()).toEqual([1, 1]);
    await a.call(handles('mine'));
    expect(await heard()).toEqual([0, 0]);
  });

  it('a call that leaves a stream for want of a handler wakes a covered session', async ({ db, a }) => {
    const [watch, covered] = [await listen(db), await listen(db)];
    expect([await watch.fallAsleep(), await covered.fallAsleep()]).toEqual(['asleep', 'covered']);
    await watch.wakeUp();
    await inbox.insertPlain(db.pool, forHandler('other'));
    await a.call(handles('mine'));
    expect(await covered.heard()).toBe(1);
  });

  it('nobody falls asleep before a call that left a stream for want of a handler commits', async ({
    db,
    a,
  }) => {
    await inbox.insertPlain(db.pool, forHandler('other'));
    const caller = await begin(db);
    await a.over(caller.client).call(handles('mine'));
    const [one, other] = [await listen(db), await listen(db)];
    expect([await one.fallAsleep(), await other.fallAsleep()]).toEqual(['busy', 'busy']);
    await caller.query('commit');
    expect([await one.fallAsleep(), await other.fallAsleep()]).toEqual(['asleep', 'covered']);
  });

  it('orphaned messages that a claimer has no handler for are free for one that has it', async ({
    db,
    a,
    b,
    c,
  }) => {
    const [first, second] = stream(2).map(({ stream_id }) =>
      forHandler('other', { stream_id: stream_id ?? null }),
    );
    await a.call(inbox.stores(...(first && second ? [first, second] : [])));
    await expireLeases(db, a);
    expect(await b.call(handles('mine'))).toEqual([]);
    expect(await inbox.rows(db)).toMatchObject([{ instance_id: null }, { instance_id: null }]);
    expect(ids(await c.call(handles('other')))).toEqual([first?.message_id, second?.message_id]);
    expect(ids(await a.call(inbox.completes(first ? [first] : []), inbox.room(0)))).toEqual([
      first?.message_id,
    ]);
  });

  it('an earlier message that commits late is handed out though its stream waits for a handler', async ({
    db,
    a,
  }) => {
    const stream_id = stream(1)[0]?.stream_id ?? null;
    const [early, late] = [forHandler('mine', { stream_id }), forHandler('other', { stream_id })];
    const writer = await db.connect();
    await writer.query('begin');
    await inbox.insertPlain(writer, early);
    await inbox.insertPlain(db.pool, late);
    expect(await a.call(handles('mine'))).toEqual([]);
    expect(await waiting(db)).toHaveLength(1);
    await writer.query('commit');
    expect(ids(await a.call(handles('mine')))).toEqual([early.message_id]);
    expect(await waiting(db)).toEqual([]);
  });

  it('a stream keeps waiting for a handler when another message comes behind', async ({ db, a }) => {
    const stream_id = stream(1)[0]?.stream_id ?? null;
    await inbox.insertPlain(db.pool, forHandler('other', { stream_id }));
    await a.call(handles('mine'));
    await inbox.insertPlain(db.pool, forHandler('mine', { stream_id }));
    expect(await a.call(handles('mine'), takeover)).toEqual([]);
    expect(await waiting(db)).toHaveLength(1);
  });

  it('a claim of streams that wait for a handler obeys the cap on partitions', async ({ db, a, b }) => {
    const all = streams(20).map(({ stream_id }) => forHandler('other', { stream_id: stream_id ?? null }));
    await inbox.insertPlain(db.pool, ...all);
    await a.call(handles('mine'));
    const items = await b.call(handles('other'), { p_max_partitions_per_instance: 3 });
    expect(new Set(items.map(({ partition_number }) => partition_number)).size).toBe(3);
  });
});

describe('Messages stored by a call with a list of handlers', () => {
  it('a stored message is leased to the caller only if the caller has its handler', async ({ db, a, b }) => {
    const [mine, other] = [forHandler('mine'), forHandler('other')];
    expect(ids(await a.call(inbox.stores(mine, other), handles('mine')))).toEqual([mine.message_id]);
    expect(ids(await b.call(handles('other'), takeover))).toEqual([other.message_id]);
    expect(await inbox.rows(db)).toHaveLength(2);
  });

  it('a message stored alone is not leased to a caller without its handler', async ({ a, b }) => {
    const other = forHandler('other');
    expect(await a.call(inbox.stores(other), handles('mine'))).toEqual([]);
    expect(ids(await b.call(handles('other'), takeover))).toEqual([other.message_id]);
  });

  it.for([
    { order: ['mine', 'other'], handed: 1 },
    { order: ['other', 'mine'], handed: 0 },
  ])(
    'a stored message is never leased behind one that the caller has no handler for: $order',
    async ({ order, handed }, { a, b }) => {
      const stream_id = stream(1)[0]?.stream_id ?? null;
      const all = order.map((name) => forHandler(name, { stream_id }));
      const stored = await a.call(inbox.stores(...all), handles('mine'));
      const claimed = await a.call(handles('mine'));
      expect(ids([...stored, ...claimed])).toEqual(ids(all.slice(0, handed)));
      await a.call(inbox.completes([...stored, ...claimed]), inbox.room(0));
      await a.call(handles('mine'));
      expect(ids(await b.call(handles('other', 'mine')))).toEqual(ids(all.slice(handed)));
    },
  );

  it('a message stored with a completion in its stream is not leased to a caller without its handler', async ({
    a,
    b,
  }) => {
    const stream_id = stream(1)[0]?.stream_id ?? null;
    const first = await a.call(inbox.stores(forHandler('mine', { stream_id })), handles('mine'));
    const other = forHandler('other', { stream_id });
    expect(await a.call(inbox.completes(first), inbox.stores(other), handles('mine'))).toEqual([]);
    await a.call(handles('mine'));
    expect(ids(await b.call(handles('other')))).toEqual([other.message_id]);
  });
});
