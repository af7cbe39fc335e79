// An instance that reports the last messages it holds of a stream is handed the next ones by the same call, and the stream's
// row is left as it is. To everybody else it is as if the stream had been freed and claimed again.
import { describe, expect } from 'vitest';
import { begin } from '../races/transactions.js';
import type { TestDatabase } from '../support/database.js';
import {
  expireLeases,
  Flags,
  type Instance,
  ids,
  inbox,
  it,
  type Lane,
  lanes,
  message,
  type NewMessage,
  outbox,
  type Parameters,
  stream,
  streamOwnedBy,
  type WorkRow,
} from '../support/work.js';

/** Streams of which the instance holds the first message, and the messages that follow and wait. */
async function holdFirst(db: TestDatabase, lane: Lane, holder: Instance, ...all: NewMessage[][]) {
  const held = await holder.call(lane.stores(...all.map(([first]) => first ?? message())));
  expect(held).toHaveLength(all.length);
  for (const [, ...later] of all) await lane.insertPlain(db.pool, ...later);
  return held;
}

const streamRow = async (db: TestDatabase, lane: Lane, stream_id: unknown) =>
  (
    await db.pool.query<{ instance_id: string | null; lease_expiry: Date; version: string }>(
      'select instance_id, lease_expiry, xmin::text as version from wh_active_streams where lane = $1 and stream_id = $2',
      [lane.source, stream_id],
    )
  ).rows[0];

const streamIds = (work: WorkRow[]) => work.map(({ stream_id }) => stream_id);
const takeover: Parameters = { p_takeover_seconds: 0 };

describe.each(lanes)('Going on with a stream of the %s', (lane) => {
  it('a report on the last held message hands out the next ones without writing the stream row', async ({
    db,
    a,
  }) => {
    const messages = stream(4);
    const held = await holdFirst(db, lane, a, messages);
    // However slow this machine is, the lease has not aged.
    await db.pool.query(`update wh_active_streams set lease_expiry = lease_expiry + interval '1 minute'`);
    const before = await streamRow(db, lane, messages[0]?.stream_id);
    const next = await a.call(lane.completes(held));
    expect(ids(next)).toEqual(ids(messages.slice(1)));
    const row = await streamRow(db, lane, messages[0]?.stream_id);
    expect(row).toEqual(before);
    for (const { lease_expiry } of next) expect(lease_expiry).toEqual(row?.lease_expiry);
  });

  it('a report hands out nothing more of a stream while the instance holds another message of it', async ({
    db,
    a,
  }) => {
    const messages = stream(3);
    const [first, second] = await a.call(lane.stores(...messages.slice(0, 2)));
    await lane.insertPlain(db.pool, ...messages.slice(2));
    expect(await a.call(lane.completes([second ?? message()]))).toEqual([]);
    expect(ids(await a.call(lane.completes([first ?? message()])))).toEqual(ids(messages.slice(2)));
  });

  it('an instance that goes on with a stream gets a new lease when the old one has aged', async ({
    db,
    a,
  }) => {
    const messages = stream(2);
    const held = await holdFirst(db, lane, a, messages);
    await db.pool.query(`update wh_active_streams set lease_expiry = lease_expiry - interval '5 seconds'`);
    const before = await streamRow(db, lane, messages[0]?.stream_id);
    const next = await a.call(lane.completes(held));
    const row = await streamRow(db, lane, messages[0]?.stream_id);
    expect(ids(next)).toEqual(ids(messages.slice(1)));
    expect(row?.lease_expiry.getTime()).toBeGreaterThan((before?.lease_expiry.getTime() ?? 0) + 4000);
    expect(next[0]?.lease_expiry.getTime()).toBeLessThanOrEqual(row?.lease_expiry.getTime() ?? 0);
  });

  it('an instance that goes on with a stream renews a short lease after a fifth of it', async ({ db, a }) => {
    const messages = stream(2);
    const held = await holdFirst(db, lane, a, messages);
    await db.pool.query(
      `update wh_active_streams set lease_expiry = clock_timestamp() + interval '3.1 seconds'`,
    );
    const before = await streamRow(db, lane, messages[0]?.stream_id);
    const next = await a.call({ ...lane.completes(held), p_lease_seconds: 4 });
    const row = await streamRow(db, lane, messages[0]?.stream_id);
    expect(ids(next)).toEqual(ids(messages.slice(1)));
    expect(row?.lease_expiry.getTime()).toBeGreaterThan(before?.lease_expiry.getTime() ?? 0);
  });

  it('an instance goes on through a deep stream as its room allows, in order', async ({ db, a }) => {
    const messages = stream(40);
    await lane.insertPlain(db.pool, ...messages);
    const seen: string[] = [];
    let work = await a.call(lane.room(3));
    for (let calls = 0; work.length > 0 && calls < 20; calls++) {
      expect(work.length).toBeLessThanOrEqual(3);
      seen.push(...ids(work));
      work = await a.call(lane.completes(work), lane.room(3));
    }
    expect(seen).toEqual(ids(messages));
    expect(await streamRow(db, lane, messages[0]?.stream_id)).toBeUndefined();
  });

  it('an instance that goes on gets what others stored in its stream meanwhile', async ({ a, b }) => {
    const [first, second] = stream(2);
    const held = await a.call(lane.stores(first ?? message()));
    expect(await b.call(lane.stores(second ?? message()))).toEqual([]);
    expect(ids(await a.call(lane.completes(held), takeover))).toEqual([second?.message_id]);
  });

  it('an instance gets no message that it just failed or completed partly, and none behind it', async ({
    db,
    a,
  }) => {
    const messages = [stream(2), stream(2)];
    const [one, other] = await holdFirst(db, lane, a, ...messages);
    const reports = [
      lane.completes([one ?? message()], lane.partly),
      lane.fails([other ?? message()], { retry_after_seconds: -1 }),
    ];
    expect(await a.call(...reports)).toEqual([]);
    expect(ids(await a.call()).sort()).toEqual(ids(messages.flat()).sort());
  });

  it('an instance may be handed the message that it just released', async ({ db, a }) => {
    const messages = stream(2);
    const held = await holdFirst(db, lane, a, messages);
    expect(ids(await a.call(lane.releases(held)))).toEqual(ids(messages));
  });

  it('a report on the last held message frees a stream whose next message is scheduled', async ({
    db,
    a,
  }) => {
    const [first, second] = stream(2);
    const held = await a.call(lane.stores(first ?? message()));
    const later = { ...message({ stream_id: first?.stream_id ?? null }), ...second };
    await a.call(lane.stores({ ...later, scheduled_for: new Date(Date.now() + 60_000).toISOString() }));
    expect(await a.call(lane.completes(held))).toEqual([]);
    expect((await streamRow(db, lane, first?.stream_id))?.instance_id).toBeNull();
  });

  it('an instance that goes on gets an earlier message that committed late first', async ({ db, a, b }) => {
    const [early, first, last] = stream(3);
    const writer = await begin(db);
    await lane.insertPlain(writer, early ?? message());
    await lane.insertPlain(db.pool, first ?? message());
    const held = await a.call();
    expect(ids(held)).toEqual([first?.message_id]);
    await writer.query('commit');
    await lane.insertPlain(db.pool, last ?? message());
    expect(ids(await a.call(lane.completes(held)))).toEqual([early?.message_id, last?.message_id]);
    await expireLeases(db, a);
    const orphans = await b.call();
    expect(ids(orphans)).toEqual([early?.message_id, last?.message_id]);
    for (const { flags } of orphans) expect(flags & Flags.Orphaned).toBe(Flags.Orphaned);
  });

  it('messages that an instance got by going on are lost when its lease ends', async ({ db, a, b }) => {
    const messages = stream(3);
    const held = await holdFirst(db, lane, a, messages);
    const next = await a.call(lane.completes(held));
    await expireLeases(db, a);
    expect(ids(await b.call())).toEqual(ids(next));
    const late = await a.call(lane.completes(next));
    expect(ids(late).sort()).toEqual(ids(next).sort());
    for (const { flags } of late) expect(flags).toBe(Flags.LeaseLost);
  });
});

describe.each(lanes)('Turns of the streams in the %s', (lane) => {
  it('a waiting stream comes before one that its holder would go on with', async ({ db, a }) => {
    const [mine, waiting] = [stream(3), stream(3)];
    const held = await holdFirst(db, lane, a, mine);
    await lane.insertPlain(db.pool, ...waiting);
    const turn = await a.call(lane.completes(held), lane.room(1));
    expect(ids(turn)).toEqual(ids(waiting.slice(0, 1)));
    expect((await streamRow(db, lane, mine[0]?.stream_id))?.instance_id).toBeNull();
    expect(ids(await a.call(lane.completes(turn), lane.room(1)))).toEqual(ids(mine.slice(1, 2)));
  });

  it('a waiting stream and one that its holder goes on with share the room', async ({ db, a }) => {
    const [mine, waiting] = [stream(9), stream(9)];
    const held = await holdFirst(db, lane, a, mine);
    await lane.insertPlain(db.pool, ...waiting);
    const work = await a.call(lane.completes(held), lane.room(6));
    expect(ids(work).sort()).toEqual(ids([...mine.slice(1, 4), ...waiting.slice(0, 3)]).sort());
  });

  it('a short stream leaves the room that it does not need to a deeper one', async ({ db, a }) => {
    const [short, deep] = [stream(1), stream(9)];
    await lane.insertPlain(db.pool, ...short, ...deep);
    const work = await a.call(lane.room(6));
    expect(ids(work).sort()).toEqual(ids([...short, ...deep.slice(0, 5)]).sort());
  });

  it('every waiting stream gets its turn under a cap on partitions', async ({ db, a }) => {
    const cap = { p_max_partitions_per_instance: 1 };
    await lane.insertPlain(db.pool, ...stream(4), ...stream(4), ...stream(4));
    let work = await a.call(cap, lane.room(1));
    const turns: unknown[] = [];
    for (let calls = 0; calls < 3; calls++) {
      turns.push(...streamIds(work));
      work = await a.call(lane.completes(work), cap, lane.room(1));
    }
    expect(new Set(turns).size).toBe(3);
  });
});

describe.each(lanes)('A stream of the %s in the partition of another instance', (lane) => {
  it('a holder does not go on with a stream of another owner, who gets it at once', async ({ db, a, b }) => {
    for (const each of [a, b]) await each.call();
    const stream_id = await streamOwnedBy(db, b);
    const messages = [message({ stream_id }), message({ stream_id })];
    const held = await holdFirst(db, lane, a, messages);
    expect(await a.call(lane.completes(held))).toEqual([]);
    expect(ids(await b.call())).toEqual(ids(messages.slice(1)));
  });

  it('a holder lets a stream go at its next report when the owner joins', async ({ db, a, b, c }) => {
    for (const each of [a, b, c]) await each.call();
    const stream_id = await streamOwnedBy(db, c);
    await db.pool.query('delete from wh_service_instances');
    const messages = Array.from({ length: 3 }, () => message({ stream_id }));
    const held = await holdFirst(db, lane, a, messages);
    const second = await a.call(lane.completes(held), lane.room(1));
    expect(ids(second)).toEqual(ids(messages.slice(1, 2)));
    for (const each of [b, c]) await each.call();
    expect(await a.call(lane.completes(second))).toEqual([]);
    expect(ids(await c.call())).toEqual(ids(messages.slice(2)));
  });

  it('a holder goes on with a stream of another owner when there is no grace period', async ({
    db,
    a,
    b,
  }) => {
    for (const each of [a, b]) await each.call();
    const stream_id = await streamOwnedBy(db, b);
    const messages = [message({ stream_id }), message({ stream_id })];
    const held = await holdFirst(db, lane, a, messages);
    expect(ids(await a.call(lane.completes(held), takeover))).toEqual(ids(messages.slice(1)));
  });
});

describe('Going on with a stream', () => {
  it('a stream is left to others when its holder has no handler for the next message', async ({
    db,
    a,
    b,
  }) => {
    const stream_id = stream(1)[0]?.stream_id ?? null;
    const [first, second, third] = ['mine', 'other', 'mine'].map(
      (handler_name) => ({ ...message({ stream_id }), handler_name }) as NewMessage,
    );
    const held = await a.call(inbox.stores(first ?? message()), { p_inbox_handlers: ['mine'] });
    await inbox.insertPlain(db.pool, second ?? message(), third ?? message());
    expect(await a.call(inbox.completes(held), { p_inbox_handlers: ['mine'] })).toEqual([]);
    expect(ids(await b.call({ p_inbox_handlers: ['other'] }))).toEqual([second?.message_id]);
  });

  it('a holder does not go on to an event that cannot be appended yet', async ({ db, a }) => {
    const [first, second] = stream(2);
    const held = await a.call(outbox.stores({ ...message(), ...first, is_event: true }));
    const other = await begin(db);
    await other.query('select from wh_event_streams for update');
    await outbox.insertPlain(db.pool, { ...message(), ...second, is_event: true });
    expect(await a.call(outbox.completes(held))).toEqual([]);
    await other.query('commit');
    await db.pool.query('update wh_active_streams set available_at = clock_timestamp()');
    expect(ids(await a.call())).toEqual([second?.message_id]);
  });
});
