// Calls that store into a stream, in a transaction that stays open, while others finish, fail and claim in it.
// What they hold back must be found when they end, and must hold nobody up before.
import { describe, expect } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { openSession, waitUntilBlocked } from '../support/sessions.js';
import {
  ids,
  instance,
  it,
  lanes,
  message,
  type NewMessage,
  outbox,
  stream,
  streams,
} from '../support/work.js';
import { begin, impatient, noRoom, takeover } from './transactions.js';

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

describe.each(lanes)('in the $source', (lane) => {
  it('a message does not wait for the schedule of a later one that was stored beside it', async ({
    db,
    a,
    b,
    c,
  }) => {
    const [first, early, late] = stream(3) as [NewMessage, NewMessage, NewMessage];
    await a.call(lane.stores(first));
    await b.call();
    const writer = await begin(db);
    await b.over(writer.client).call(lane.stores(early));
    await c.over(await impatient(db)).call(lane.stores({ ...late, scheduled_for: inAnHour() }));
    await a.over(await impatient(db)).call(lane.completes([first]), noRoom);
    await writer.query('commit');
    await eventually(async () => expect(ids(await c.call(takeover))).toEqual(ids([early])));
  });

  it('a message does not wait for the retry of a later one that was handed out meanwhile', async ({
    db,
    a,
    b,
    c,
  }) => {
    const [first, early, late] = stream(3) as [NewMessage, NewMessage, NewMessage];
    await a.call(lane.stores(first));
    await b.call();
    const writer = await begin(db);
    await b.over(writer.client).call(lane.stores(early));
    await c.over(await impatient(db)).call(lane.stores(late));
    await a.over(await impatient(db)).call(lane.completes([first]), noRoom);
    const passed = await c.over(await impatient(db)).call(takeover);
    await c.call(lane.fails(passed, { retry_after_seconds: 3600 }), noRoom);
    await writer.query('commit');
    await eventually(async () => expect(ids(await c.call(takeover)).slice(0, 1)).toEqual(ids([early])));
  });

  it('a call that meets others opening the same streams again and again stores without opening any', async ({
    db,
    a,
    b,
  }) => {
    const all = streams(4).sort((x, y) => ((x.stream_id ?? '') < (y.stream_id ?? '') ? -1 : 1));
    const openers = [];
    for (const { stream_id } of all) {
      const opener = await begin(db);
      await b.over(opener).call(lane.stores(message({ stream_id: stream_id ?? null })));
      openers.push(opener);
    }
    const storer = await openSession(db);
    const stored = a.over(storer.client).call(lane.stores(...all));
    for (const opener of openers.slice(0, 3)) {
      expect(await waitUntilBlocked(db, storer.pid)).toEqual([opener.pid]);
      await opener.query('commit');
    }
    expect(await stored).toEqual([]); // though the last still has its stream
    await openers.at(-1)?.query('commit');
    const { rows } = await db.pool.query(`select 1 from ${lane.table}`);
    expect(rows).toHaveLength(8);
    const found = new Set<string>();
    await eventually(async () => {
      for (const { message_id } of await b.call(takeover)) found.add(message_id);
      const { rows: held } = await db.pool.query(
        `select message_id from ${lane.table} where instance_id is not null`,
      );
      await b.call(lane.completes(held), noRoom);
      expect([...found]).toEqual(expect.arrayContaining(ids(all)));
    });
  });

  it.each([1, 3, 4])(
    'a call that meets others %i times overtakes nothing that was plainly inserted',
    async (times) => {
      await using db = await createTestDatabase();
      const a = instance(db, 'a');
      const [first = message(), plain = message(), fresh = message()] = stream(3);
      const held = await a.call(lane.stores(first));
      await lane.insertPlain(db.pool, { ...plain, is_event: true });
      const same = streams(times).sort((x, y) => (x.message_id < y.message_id ? -1 : 1));
      const others = [];
      for (const each of same) {
        const other = await begin(db);
        await other.query('insert into wh_message_deduplication (message_id) values ($1)', [each.message_id]);
        await lane.insertPlain(other, each);
        others.push(other);
      }
      const storer = await openSession(db);
      const call = a.over(storer.client).call(lane.completes(held), lane.stores(fresh, ...same));
      for (const other of others) {
        expect(await waitUntilBlocked(db, storer.pid)).toEqual([other.pid]);
        await other.query('commit');
      }
      const ours = (await call).filter(({ stream_id }) => stream_id === first.stream_id);
      expect(ids(ours)[0]).toBe(plain.message_id);
    },
  );

  it('streams with messages of an open transaction only do not keep other work from its turn', async ({
    db,
    a,
    b,
    c,
  }) => {
    const held = streams(5);
    await a.call(lane.stores(...held));
    await b.call();
    const writer = await begin(db);
    await b
      .over(writer.client)
      .call(lane.stores(...held.map(({ stream_id }) => message({ stream_id: stream_id ?? null }))));
    await a.over(await impatient(db)).call(lane.completes(held), noRoom);
    const other = message();
    await lane.insertPlain(db.pool, other);
    const worker = c.over(await impatient(db));
    await eventually(async () =>
      expect(ids(await worker.call(takeover, lane.room(5)))).toEqual(ids([other])),
    );
  });

  it('a message that waited for a call that rolled back does not overtake an earlier one', async ({
    db,
    a,
    b,
  }) => {
    const [doomed, early, next] = stream(3) as [NewMessage, NewMessage, NewMessage];
    const [first, second] = [await begin(db), await openSession(db)];
    await b.over(first.client).call(lane.stores(doomed));
    const storing = a.over(second.client).call(lane.stores(next), takeover);
    await waitUntilBlocked(db, second.pid);
    await lane.insertPlain(db.pool, early);
    await first.query('rollback');
    const handedOut = ids(await storing);
    expect(handedOut[0] ?? early.message_id).toBe(early.message_id);
  });
});

it('an event is not appended before an earlier one whose stream is locked', async ({ db, a, b }) => {
  const [held, early, next] = stream(3) as [NewMessage, NewMessage, NewMessage];
  await a.call(outbox.stores(held));
  await b.call();
  const handler = await begin(db);
  await a.over(handler.client).call(outbox.completes([held]), noRoom);
  await db.pool.query(
    `insert into wh_outbox (message_id, destination, event_type, event_data, stream_id, is_event)
     values ($1, 'orders', 'shop.OrderPlaced', '{}', $2, true)`,
    [early.message_id, early.stream_id],
  );
  await b.over(await impatient(db)).call(outbox.stores({ ...next, is_event: true }));
  await handler.query('commit');
  await eventually(async () => expect((await b.call(takeover)).length).toBeGreaterThan(0));
  await db.pool.query(
    'update wh_active_streams set available_at = clock_timestamp() where instance_id is null',
  );
  await b.call(takeover);
  const { rows } = await db.pool.query('select event_id from wh_event_store order by version');
  expect(rows.map(({ event_id }) => event_id)).toEqual(ids([early, next]));
});

it('the lease of messages that a call hands out after a long wait begins after the wait', async ({
  db,
  a,
  b,
}) => {
  const stream_id = crypto.randomUUID();
  const [first, second] = [await begin(db), await openSession(db)];
  await b
    .over(first.client)
    .call(outbox.stores(message({ stream_id, is_event: true, expected_version: 0 })), noRoom);
  const event = message({ stream_id, is_event: true, expected_version: 0 });
  const storing = a.over(second.client).call(outbox.stores(event, message()), { p_lease_seconds: 1 });
  await waitUntilBlocked(db, second.pid);
  await db.pool.query('select pg_sleep(1.1)'); // longer than the lease that it asks for
  await first.query('rollback');
  const items = await storing;
  expect(items).toHaveLength(2);
  const { rows } = await db.pool.query('select clock_timestamp() as now');
  for (const { lease_expiry } of items) expect(lease_expiry.getTime()).toBeGreaterThan(rows[0].now.getTime());
  expect(await b.call(takeover)).toEqual([]);
});
