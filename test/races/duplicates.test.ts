// The same message, or the same call, more than once at the same time.
import { describe, expect } from 'vitest';
import { openSession, waitUntilBlocked } from '../support/sessions.js';
import { Flags, Instance, ids, inbox, it, lanes, message, outbox, stream, streams } from '../support/work.js';
import { begin, noRoom, takeover } from './transactions.js';

describe.each(lanes)('Duplicate ids in the $source', (lane) => {
  it('a message id stored by sixteen sessions at once is one message, handed out once', async ({ db }) => {
    const sent = [...stream(3), message(), message({ stream_id: crypto.randomUUID(), is_event: true })];
    const callers = Array.from(
      { length: 16 },
      (_, i) => new Instance(`0190bbbb-0000-7000-8000-0000000000${10 + i}`, db.pool),
    );
    const results = await Promise.all(callers.map((each) => each.call(lane.stores(...sent))));
    const late = await callers[0]?.call(takeover);
    expect(ids([...results.flat(), ...(late ?? [])]).sort()).toEqual(ids(sent).sort());
    expect(await lane.rows(db)).toHaveLength(5);
    expect((await db.pool.query('select from wh_event_store')).rowCount).toBe(1);
  });

  it('a message id stored again waits for the open first call, and is ignored when that commits', async ({
    db,
    a,
    b,
  }) => {
    const sent = message();
    await a.call();
    const [first, second] = [await begin(db), await openSession(db)];
    expect(ids(await a.over(first.client).call(lane.stores(sent)))).toEqual(ids([sent]));
    const again = b.over(second.client).call(lane.stores(sent));
    expect(await waitUntilBlocked(db, second.pid)).toEqual([first.pid]);
    await first.query('commit');
    expect(await again).toEqual([]);
    expect(await lane.rows(db)).toHaveLength(1);
  });

  it('a message id stored again is stored when the open first call rolls back', async ({ db, a, b }) => {
    const sent = message();
    const [first, second] = [await begin(db), await openSession(db)];
    await a.over(first.client).call(lane.stores(sent));
    const again = b.over(second.client).call(lane.stores(sent));
    await waitUntilBlocked(db, second.pid);
    await first.query('rollback');
    expect(ids(await again)).toEqual(ids([sent]));
  });

  it('the same message ids stored in opposite orders do not deadlock', async ({ db }) => {
    for (let round = 0; round < 20; round++) {
      const sent = streams(10);
      const callers = Array.from(
        { length: 8 },
        (_, i) => new Instance(`0190bbbb-0000-7000-8000-0000000000${10 + i}`, db.pool),
      );
      const results = await Promise.all(
        callers.map((each, i) => each.call(lane.stores(...(i % 2 ? sent : sent.toReversed())))),
      );
      expect(ids(results.flat()).sort()).toEqual(ids(sent).sort());
    }
  });
});

describe.each(lanes)('A call of the $source that is sent twice because its answer was lost', (lane) => {
  it('a call sent twice stores once, and its messages come back when the lease ends', async ({
    db,
    a,
    b,
  }) => {
    const sent = stream(3);
    await a.call(lane.stores(...sent));
    expect(await a.call(lane.stores(...sent))).toEqual([]);
    await db.pool.query(`update ${lane.table} set lease_expiry = clock_timestamp()`);
    await db.pool.query('update wh_active_streams set lease_expiry = clock_timestamp()');
    expect(ids(await b.call())).toEqual(ids(sent));
  });

  it('a call sent twice completes once, and the second answer says that the lease is lost', async ({ a }) => {
    const sent = stream(2);
    await a.call(lane.stores(...sent));
    expect(await a.call(lane.completes(sent))).toEqual([]);
    const again = await a.call(lane.completes(sent));
    expect(again.map(({ flags }) => flags)).toEqual([Flags.LeaseLost, Flags.LeaseLost]);
    expect(ids(again).sort()).toEqual(ids(sent).sort());
  });

  it('a call sent twice at the same moment does everything once', async ({ db, a }) => {
    const [done, next] = [stream(2), stream(2)];
    for (let round = 0; round < 10; round++) {
      await a.call(lane.stores(...done));
      const call = () => a.call(lane.completes(done), lane.stores(...next));
      const [first, second] = await Promise.all([call(), call()]);
      const rows = [...first, ...second];
      expect(ids(rows.filter(({ flags }) => flags === Flags.LeaseLost)).sort()).toEqual(ids(done).sort());
      expect(ids(rows.filter(({ flags }) => flags !== Flags.LeaseLost))).toEqual(ids(next));
      await a.call(lane.completes(next), noRoom);
      expect(await lane.rows(db)).toEqual([]);
      if (lane === inbox) break;
    }
  });
});

it('an event that is stored in both lanes at once is appended once', async ({ db, a, b }) => {
  const event = message({ stream_id: crypto.randomUUID(), is_event: true });
  await Promise.all([a.call(outbox.stores(event)), b.call(inbox.stores(event))]);
  await a.call(takeover);
  await db.pool.query(
    'update wh_active_streams set available_at = clock_timestamp() where instance_id is null',
  );
  await b.call(takeover);
  const { rows } = await db.pool.query('select event_id, version::int from wh_event_store');
  expect(rows).toEqual([{ event_id: event.message_id, version: 1 }]);
});

describe('Messages that a handler sends with its completion', () => {
  it.for(['commit', 'rollback'])(
    'a message sent with a completion waits for the %s of a duplicate, and is stored once',
    async (end, { db, a, b }) => {
      const handled = await a.call(inbox.stores(message()));
      const sent = [message(), message(), message()];
      const [first, second] = [await begin(db), await openSession(db)];
      await b.over(first.client).call(outbox.stores(...sent.slice(1, 2)), noRoom);
      const settled = a.over(second.client).call(inbox.completes(handled), outbox.stores(...sent), noRoom);
      expect(await waitUntilBlocked(db, second.pid)).toEqual([first.pid]);
      await first.query(end);
      expect(await settled).toEqual([]);
      expect(ids((await outbox.rows(db)) as { message_id: string }[]).sort()).toEqual(ids(sent).sort());
      expect(await inbox.rows(db)).toEqual([]);
    },
  );

  it('a message sent with a completion replaces one of its id that debug mode kept', async ({ db, a }) => {
    const sent = message();
    await a.call(outbox.completes(await a.call(outbox.stores(sent))), { p_flags: Flags.DebugMode });
    const handled = await a.call(inbox.stores(message()));
    expect(await a.call(inbox.completes(handled), outbox.stores(sent), noRoom)).toEqual([]);
    expect(await outbox.rows(db)).toMatchObject([{ message_id: sent.message_id, processed_at: null }]);
  });
});
