// A caller that continues (flag 512) is handed new inbox messages behind those of their stream that it still holds. It promises to give
// them back when one before them fails. Nobody else is handed anything of the stream meanwhile, and nothing is overtaken.
import { describe, expect } from 'vitest';
import { begin, noRoom, takeover } from '../races/transactions.js';
import type { TestDatabase } from '../support/database.js';
import { openSession, waitUntilBlocked } from '../support/sessions.js';
import {
  Flags,
  ids,
  inbox,
  it,
  message,
  outbox,
  type Parameters,
  stream,
  type WorkRow,
} from '../support/work.js';

const continues: Parameters = { p_flags: Flags.Continues };
const isBehind = ({ flags }: WorkRow) => (flags & Flags.Continues) !== 0;

const streamRows = async (db: TestDatabase) =>
  (
    await db.pool.query<{ instance_id: string | null; version: string }>(
      'select stream_id, instance_id, head, xmin::text as version from wh_active_streams',
    )
  ).rows;

describe('A caller that continues', () => {
  it('a continuing caller gets a new message behind one that it holds, with the flag Continues', async ({
    db,
    a,
  }) => {
    const [first = message(), second = message()] = stream(2);
    const held = await a.call(continues, inbox.stores(first));
    expect(held.map(isBehind)).toEqual([false]);
    const before = await streamRows(db);
    const next = await a.call(continues, inbox.stores(second));
    expect(ids(next)).toEqual([second.message_id]);
    expect(next.map(isBehind)).toEqual([true]);
    expect(await streamRows(db)).toEqual(before);
    expect(await a.call(inbox.completes([...held, ...next]))).toEqual([]);
    expect(await streamRows(db)).toEqual([]);
  });

  it('a continuing caller gets a new message in the call that reports an earlier one', async ({ a }) => {
    const [first = message(), second = message(), third = message()] = stream(3);
    const held = await a.call(continues, inbox.stores(first, second));
    const next = await a.call(continues, inbox.completes(held.slice(0, 1)), inbox.stores(third));
    expect(ids(next)).toEqual([third.message_id]);
  });

  it('a continuing caller gets no new message once the lease of its stream has aged', async ({ db, a }) => {
    const [first = message(), second = message()] = stream(2);
    const held = await a.call(continues, inbox.stores(first));
    await db.pool.query(`update wh_active_streams set lease_expiry = lease_expiry - interval '5 seconds'`);
    const before = await streamRows(db);
    expect(await a.call(continues, inbox.stores(second))).toEqual([]);
    expect(await streamRows(db)).toEqual(before);
    expect(ids(await a.call(continues, inbox.completes(held)))).toEqual([second.message_id]);
  });

  it('a continuing caller gets nothing behind a message that somebody else plainly inserted', async ({
    db,
    a,
  }) => {
    const [first = message(), second = message(), third = message()] = stream(3);
    const held = await a.call(continues, inbox.stores(first));
    await inbox.insertPlain(db.pool, second);
    expect(await a.call(continues, inbox.stores(third))).toEqual([]);
    expect(ids(await a.call(continues, inbox.completes(held)))).toEqual(ids([second, third]));
  });

  it('a continuing caller gets nothing behind a message that it just failed, released or completed partly', async ({
    a,
  }) => {
    const reports = [
      (held: WorkRow[]) => inbox.fails(held, { retry_after_seconds: 60 }),
      (held: WorkRow[]) => inbox.completes(held, inbox.partly),
    ];
    for (const report of reports) {
      const [first = message(), second = message()] = stream(2);
      const held = await a.call(continues, inbox.stores(first));
      expect(await a.call(continues, report(held), inbox.stores(second))).toEqual([]);
    }
    const [first = message(), second = message()] = stream(2);
    const held = await a.call(continues, inbox.stores(first));
    const again = await a.call(continues, inbox.releases(held), inbox.stores(second));
    expect(again.filter(isBehind)).toEqual([]);
  });

  it('a continuing caller gets nothing behind a message whose lease has ended', async ({ db, a }) => {
    const [first = message(), second = message()] = stream(2);
    await a.call(continues, inbox.stores(first));
    await db.pool.query(`update wh_inbox set lease_expiry = clock_timestamp() - interval '1 second'`);
    expect(await a.call(continues, inbox.stores(second))).toEqual([]);
  });

  it('a continuing caller gets nothing in a stream that another instance holds', async ({ a, b }) => {
    const [first = message(), second = message()] = stream(2);
    await a.call(continues, inbox.stores(first));
    expect(await b.call(continues, takeover, inbox.stores(second))).toEqual([]);
  });

  it('a continuing caller does not wait for its own open completion, and gets nothing of that stream', async ({
    db,
    a,
  }) => {
    const [first = message(), second = message()] = stream(2);
    const held = await a.call(continues, inbox.stores(first));
    const handler = await begin(db);
    await a.over(handler).call(inbox.completes(held), noRoom);
    expect(await a.call(continues, inbox.stores(second))).toEqual([]);
    await handler.query('commit');
    expect(ids(await a.call(continues))).toEqual([second.message_id]);
  });

  it('a continuing caller does not get a message that is scheduled for later', async ({ a }) => {
    const [first = message(), second = message()] = stream(2);
    await a.call(continues, inbox.stores(first));
    const later = { ...second, scheduled_for: new Date(Date.now() + 60_000).toISOString() };
    expect(await a.call(continues, inbox.stores(later))).toEqual([]);
  });

  it('a continuing caller gets no more messages than it has room for', async ({ a }) => {
    const [first = message(), ...later] = stream(4);
    const held = await a.call(continues, inbox.stores(first));
    const next = await a.call(continues, inbox.stores(...later), inbox.room(2));
    expect(ids(next)).toEqual(ids(later.slice(0, 2)));
    expect(ids(await a.call(continues, inbox.completes([...held, ...next])))).toEqual(ids(later.slice(2)));
  });

  it('events that a continuing caller stores are appended in order', async ({ db, a }) => {
    const events = stream(3).map((each) => ({ ...each, is_event: true }));
    for (const event of events) expect(await a.call(continues, inbox.stores(event))).toHaveLength(1);
    const { rows } = await db.pool.query('select event_id from wh_event_store order by version');
    expect(rows.map(({ event_id }) => event_id)).toEqual(ids(events));
  });

  it('a continuing caller gets nothing behind a held message of the outbox', async ({ a }) => {
    const [first = message(), second = message(), third = message(), fourth = message()] = stream(4);
    const [held = message()] = await a.call(continues, outbox.stores(first, second));
    expect(await a.call(continues, outbox.stores(third))).toEqual([]);
    expect(await a.call(continues, outbox.completes([held]), outbox.stores(fourth))).toEqual([]);
  });
});

it('a caller that does not continue gets nothing behind what it holds', async ({ a }) => {
  const [first = message(), second = message()] = stream(2);
  const held = await a.call(inbox.stores(first));
  expect(await a.call(inbox.stores(second))).toEqual([]);
  const next = await a.call(inbox.completes(held));
  expect(ids(next)).toEqual([second.message_id]);
  expect(next.map(isBehind)).toEqual([false]);
});

it('a call that has waited for more than two leases fails and stores nothing', async ({ db, a }) => {
  const [event = message()] = stream(1, { is_event: true });
  await a.call(inbox.completes(await a.call(inbox.stores(event))));
  const other = await begin(db);
  await other.query('select from wh_event_streams for no key update');
  const { client, pid } = await openSession(db);
  const [late = message()] = stream(1, {
    is_event: true,
    stream_id: event.stream_id ?? null,
    expected_version: 1,
  });
  const call = a.over(client).call(inbox.stores(late), { p_lease_seconds: 1 });
  await waitUntilBlocked(db, pid);
  await other.query('select pg_sleep(2.1)');
  await other.query('commit');
  await expect(call).rejects.toMatchObject({ code: '40001' });
  const { rows } = await db.pool.query('select from wh_inbox');
  expect(rows).toEqual([]);
});
