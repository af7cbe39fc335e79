// A transaction that takes its order number early and commits late: the message appears below what its stream
// has already handed out. It must come before everything that is still to be handed out there.
import { describe, expect } from 'vitest';
import { openSession, waitUntilBlocked } from '../support/sessions.js';
import { ids, it, lanes, message, type NewMessage, outbox, stream, streams } from '../support/work.js';
import { begin, impatient, noRoom, takeover } from './transactions.js';

describe.each(lanes)('Late commits in the $source', (lane) => {
  it('a message that commits late is handed out before a later one that was released', async ({ db, a }) => {
    const [early, late] = stream(2) as [NewMessage, NewMessage];
    const writer = await begin(db);
    await lane.insertPlain(writer.client, early);
    await lane.insertPlain(db.pool, late);
    expect(ids(await a.call())).toEqual([late.message_id]);
    await writer.query('commit');

    expect(ids(await a.call(lane.releases([late])))).toEqual(ids([early, late]));
  });

  it('a message that commits late is not overtaken by what the holder stores with its completion', async ({
    db,
    a,
  }) => {
    const [early, late, next] = stream(3) as [NewMessage, NewMessage, NewMessage];
    const writer = await begin(db);
    await lane.insertPlain(writer.client, early);
    await lane.insertPlain(db.pool, late);
    expect(ids(await a.call())).toEqual(ids([late]));
    await writer.query('commit');

    expect(ids(await a.call(lane.completes([late]), lane.stores(next)))).toEqual(ids([early, next]));
  });

  it('a message that commits late is not overtaken when more arrived than one call admits', async ({
    db,
    a,
  }) => {
    const [early, late] = stream(2) as [NewMessage, NewMessage];
    const writer = await begin(db);
    await lane.insertPlain(writer.client, ...streams(220), early);
    await lane.insertPlain(db.pool, late);
    expect(ids(await a.call())).toEqual(ids([late]));
    await a.call(lane.releases([late]), noRoom);
    await writer.query('commit');

    const seen: string[] = [];
    for (let calls = 0; calls < 300 && seen.length < 2; calls++) {
      const items = await a.call(lane.room(calls === 0 ? 1 : 10));
      seen.push(...ids(items).filter((id) => id === early.message_id || id === late.message_id));
      await a.call(lane.completes(items), noRoom);
    }
    expect(seen).toEqual(ids([early, late]));
  });

  it('a message that commits late behind many arrivals is not overtaken by what the holder stores', async ({
    db,
    a,
  }) => {
    const [early, late, next] = stream(3) as [NewMessage, NewMessage, NewMessage];
    const writer = await begin(db);
    await lane.insertPlain(writer.client, ...streams(220), early);
    await lane.insertPlain(db.pool, late);
    expect(ids(await a.call())).toEqual(ids([late]));
    await writer.query('commit');

    const items = ids(await a.call(lane.completes([late]), lane.stores(next), lane.room(1)));
    expect(items).not.toContain(next.message_id);
  });

  it('an arrival behind many others is not overtaken by a message stored into its stream', async ({
    db,
    a,
  }) => {
    const [early, next] = stream(2) as [NewMessage, NewMessage];
    await lane.insertPlain(db.pool, ...streams(220), early);
    expect(ids(await a.call(lane.stores(next), lane.room(1)))).not.toContain(next.message_id);
  });

  it('a message that commits late is not overtaken when its stream was locked at its admission', async ({
    db,
    a,
    b,
  }) => {
    const [early, late] = stream(2) as [NewMessage, NewMessage];
    const other = message({ stream_id: crypto.randomUUID(), is_event: true, expected_version: 0 });
    const [writer, holder, blocker] = [await begin(db), await begin(db), await begin(db)];
    const claimer = await openSession(db);
    await lane.insertPlain(writer.client, early);
    await lane.insertPlain(db.pool, late);
    expect(ids(await a.call())).toEqual(ids([late]));
    await a.call(lane.releases([late]), noRoom);
    await writer.query('commit');
    // The stream is locked, as by a call that stores into it, while b looks for what it can admit.
    await holder.query('select from wh_active_streams for no key update');
    await blocker.query('insert into wh_event_streams values ($1, 0)', [other.stream_id]);
    const claiming = b.over(claimer.client).call(outbox.stores(other), takeover);
    await waitUntilBlocked(db, claimer.pid);
    await holder.query('rollback');
    await blocker.query('rollback');
    const handedOut = [...ids(await claiming), ...ids(await b.call(takeover))].filter(
      (id) => id !== other.message_id,
    );
    expect(handedOut).toEqual(ids([early, late]));
  });

  it.for([
    { room: 'with room', part: {} },
    { room: 'without room', part: noRoom },
  ])(
    'a message stored by an open call $room is handed out before a later one',
    async ({ part }, { db, a, b, c }) => {
      const [first, early, late] = stream(3) as [NewMessage, NewMessage, NewMessage];
      await a.call(lane.stores(first));
      await b.call();
      const writer = await begin(db);
      await b.over(writer.client).call(lane.stores(early), part);
      await c.over(await impatient(db)).call(lane.stores(late));
      await a.over(await impatient(db)).call(lane.completes([first]), noRoom);
      const passed = await c.over(await impatient(db)).call(takeover);
      expect(ids(passed)).toEqual(passed.length === 0 ? [] : ids([late]));
      await c.call(lane.releases(passed), noRoom);
      await writer.query('commit');

      // The floors rise as far as they can, with traffic that leaves this stream alone.
      for (let round = 0; round < 5; round++) {
        await db.pool.query("update wh_lanes set moved_at = '-infinity', swept_at = clock_timestamp()");
        const others = await a.call(lane.stores(message()), lane.room(1), { p_takeover_seconds: 3600 });
        await a.call(lane.completes(others.filter(({ stream_id }) => stream_id === null)), noRoom);
      }
      await db.pool.query(
        `update ${lane.table} set lease_expiry = clock_timestamp() where lease_expiry is not null`,
      );
      await db.pool.query(
        'update wh_active_streams set lease_expiry = clock_timestamp() where lease_expiry is not null',
      );
      expect(ids(await c.call(takeover))).toEqual(ids([early, late]));
    },
  );
});
