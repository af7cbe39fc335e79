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
  it('is handed a new message behind one of its stream that it holds, marked so', async ({ db, a }) => {
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

  it('is handed it by the call that reports the one before it', async ({ a }) => {
    const [first = message(), second = message(), third = message()] = stream(3);
    const held = await a.call(continues, inbox.stores(first, second));
    const next = await a.call(continues, inbox.completes(held.slice(0, 1)), inbox.stores(third));
    expect(ids(next)).toEqual([third.message_id]);
  });

  it('is handed nothing behind it once the lease of the stream has aged, so that no lease goes on by new messages alone', async ({
    db,
    a,
  }) => {
    const [first = message(), second = message()] = stream(2);
    const held = await a.call(continues, inbox.stores(first));
    await db.pool.query(`update wh_active_streams set lease_expiry = lease_expiry - interval '5 seconds'`);
    const before = await streamRows(db);
    expect(await a.call(continues, inbox.stores(second))).toEqual([]);
    expect(await streamRows(db)).toEqual(before);
    expect(ids(await a.call(continues, inbox.completes(held)))).toEqual([second.message_id]);
  });

  it('is handed nothing behind a message that somebody else has plainly inserted', async ({ db, a }) => {
    const [first = message(), second = message(), third = message()] = stream(3);
    const held = await a.call(continues, inbox.stores(first));
    await inbox.insertPlain(db.pool, second);
    expect(await a.call(continues, inbox.stores(third))).toEqual([]);
    expect(ids(await a.call(continues, inbox.completes(held)))).toEqual(ids([second, third]));
  });

  it('is handed nothing behind a message that it has just failed, given back or partly done', async ({
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

  it('is handed nothing behind a message whose lease has run out', async ({ db, a }) => {
    const [first = message(), second = message()] = stream(2);
    await a.call(continues, inbox.stores(first));
    await db.pool.query(`update wh_inbox set lease_expiry = clock_timestamp() - interval '1 second'`);
    expect(await a.call(continues, inbox.stores(second))).toEqual([]);
  });

  it('is handed nothing in a stream that another instance holds', async ({ a, b }) => {
    const [first = message(), second = message()] = stream(2);
    await a.call(continues, inbox.stores(first));
    expect(await b.call(continues, takeover, inbox.stores(second))).toEqual([]);
  });

  it('is handed nothing in a stream that a transaction of its own is about to complete, and does not wait for it', async ({
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

  it('is handed a message for later only when it is due', async ({ a }) => {
    const [first = message(), second = message()] = stream(2);
    await a.call(continues, inbox.stores(first));
    const later = { ...second, scheduled_for: new Date(Date.now() + 60_000).toISOString() };
    expect(await a.call(continues, inbox.stores(later))).toEqual([]);
  });

  it('is handed no more than it has room for', async ({ a }) => {
    const [first = message(), ...later] = stream(4);
    const held = await a.call(continues, inbox.stores(first));
    const next = await a.call(continues, inbox.stores(...later), inbox.room(2));
    expect(ids(next)).toEqual(ids(later.slice(0, 2)));
    expect(ids(await a.call(continues, inbox.completes([...held, ...next])))).toEqual(ids(later.slice(2)));
  });

  it('has its events appended in order', async ({ db, a }) => {
    const events = stream(3).map((each) => ({ ...each, is_event: true }));
    for (const event of events) expect(await a.call(continues, inbox.stores(event))).toHaveLength(1);
    const { rows } = await db.pool.query('select event_id from wh_event_store order by version');
    expect(rows.map(({ event_id }) => event_id)).toEqual(ids(events));
  });

  it('is handed nothing more in the outbox', async ({ a }) => {
    const [first = message(), second = message(), third = message(), fourth = message()] = stream(4);
    const [held = message()] = await a.call(continues, outbox.stores(first, second));
    expect(await a.call(continues, outbox.stores(third))).toEqual([]);
    expect(await a.call(continues, outbox.completes([held]), outbox.stores(fourth))).toEqual([]);
  });
});

describe('A caller that does not continue', () => {
  it('is handed nothing behind what it holds', async ({ a }) => {
    const [first = message(), second = message()] = stream(2);
    const held = await a.call(inbox.stores(first));
    expect(await a.call(inbox.stores(second))).toEqual([]);
    const next = await a.call(inbox.completes(held));
    expect(ids(next)).toEqual([second.message_id]);
    expect(next.map(isBehind)).toEqual([false]);
  });
});

it('A call that has waited for more than two leases hands nothing out, as its caller may have given it up', async ({
  db,
  a,
}) => {
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
