// The clock of the database goes back: a failover to a host that is behind, or a step of NTP. What was due stays due, leases and
// retries last as long as they were meant to, and nobody gets what another one holds.
import { describe, expect } from 'vitest';
import { begin, noRoom, takeover } from '../races/transactions.js';
import { setClockBack } from '../support/clock.js';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { type Instance, ids, it, type Lane, lanes, message, stream, streams } from '../support/work.js';

const steps = [2, 10, 3600];

/** Calls that have stored and completed, so that the floors have risen as they do under load. */
async function floorsRise(db: TestDatabase, lane: Lane, a: Instance): Promise<void> {
  for (let round = 0; round < 4; round++) {
    await a.call(lane.completes(await a.call(lane.stores(...streams(3)))), noRoom);
    await db.pool.query(`update wh_lanes set moved_at = moved_at - interval '1 second'`);
  }
  await a.call(lane.completes(await a.call(lane.stores(message()))));
}

describe.each(steps)('When the clock goes back by %i seconds', (seconds) => {
  describe.each(lanes)('in the %s', (lane) => {
    it('a message that arrives after the clock went back is handed out by the next call', async ({
      db,
      a,
    }) => {
      await floorsRise(db, lane, a);
      await setClockBack(db, seconds);
      const [plain, stored] = [message(), message()];
      await lane.insertPlain(db.pool, plain);
      expect(ids(await a.call())).toEqual(ids([plain]));
      expect(ids(await a.call(lane.stores(stored)))).toEqual(ids([stored]));
    });

    it('a message that was due before the clock went back is handed out by the next call', async ({
      db,
      a,
    }) => {
      await floorsRise(db, lane, a);
      const waiting = [message(), message()];
      await lane.insertPlain(db.pool, ...waiting);
      const first = await a.call(lane.room(1), takeover);
      await setClockBack(db, seconds);
      expect([...ids(first), ...ids(await a.call())].sort()).toEqual(ids(waiting).sort());
    });

    it('a message that is held when the clock goes back stays with its holder, who may complete it', async ({
      db,
      a,
      b,
    }) => {
      await floorsRise(db, lane, a);
      const held = await a.call(lane.stores(...streams(3)));
      await setClockBack(db, seconds);
      for (let calls = 0; calls < 3; calls++) expect(await b.call(takeover)).toEqual([]);
      expect(await a.call(lane.completes(held), noRoom)).toEqual([]);
    });

    it('the lease of a dead instance ends in its time though the clock went back', async ({ db, a, b }) => {
      await floorsRise(db, lane, a);
      const held = await a.call(lane.stores(message()), { p_lease_seconds: 1 });
      await setClockBack(db, seconds);
      await eventually(async () => expect(ids(await b.call(takeover))).toEqual(ids(held)));
    });

    it('a retry is due in its time though the clock went back, and blocks its stream until then', async ({
      db,
      a,
    }) => {
      await floorsRise(db, lane, a);
      const [first, second] = stream(2);
      const items = await a.call(lane.stores(first ?? message(), second ?? message()));
      await a.call(
        lane.fails(items.slice(0, 1), { retry_after_seconds: 2 }),
        lane.releases(items.slice(1)),
        noRoom,
      );
      await setClockBack(db, seconds);
      expect(await a.call()).toEqual([]);
      await eventually(async () => expect(ids(await a.call())).toEqual(ids(items)));
    });

    it('due retries and retries behind a held message keep their time when the clock goes back', async ({
      db,
      a,
    }) => {
      await floorsRise(db, lane, a);
      const [due] = await a.call(lane.stores(message()));
      await a.call(lane.fails(due === undefined ? [] : [due], { retry_after_seconds: 0 }), noRoom);
      const held = await a.call(lane.stores(...stream(2)), lane.room(2));
      await a.call(lane.fails(held.slice(1), { retry_after_seconds: 2 }), noRoom);
      await setClockBack(db, seconds);
      await eventually(async () => expect(ids(await a.call(lane.room(1)))).toEqual([due?.message_id]), 5_000);
      await a.call(lane.completes(held.slice(0, 1)), noRoom);
      await eventually(
        async () => expect(ids(await a.call(lane.room(1)))).toEqual([held[1]?.message_id]),
        20_000,
      );
    });

    it('a time that a sender asked for is not moved when the clock goes back', async ({ db, a }) => {
      await floorsRise(db, lane, a);
      const at = new Date(Date.now() + 7_200_000);
      await a.call(lane.stores(message({ scheduled_for: at.toISOString() })));
      await setClockBack(db, seconds);
      expect(await a.call()).toEqual([]);
      const [row] = await lane.rows(db);
      expect(row?.scheduled_for).toEqual(new Date(at.getTime() + seconds * 1000));
    });

    it('times are moved once when the clock goes back, however many calls follow', async ({ db, a, b }) => {
      await floorsRise(db, lane, a);
      const held = await a.call(lane.stores(message()));
      await setClockBack(db, seconds);
      await Promise.all(Array.from({ length: 5 }, () => b.call()));
      const left = await db.pool.query(
        `select extract(epoch from lease_expiry - clock_timestamp())::int as seconds from wh_active_streams`,
      );
      expect(left.rows[0].seconds).toBeGreaterThan(290);
      expect(left.rows[0].seconds).toBeLessThanOrEqual(300);
      const [row] = await lane.rows(db, held);
      const [stream] = (await db.pool.query('select lease_expiry from wh_active_streams')).rows;
      expect(row?.lease_expiry).toEqual(stream.lease_expiry);
    });

    it('a stream freed by a transaction that commits after the clock went back is due', async ({
      db,
      a,
      b,
    }) => {
      await floorsRise(db, lane, a);
      const [first, second] = stream(2);
      const [held] = await a.call(lane.stores(first ?? message()));
      await lane.insertPlain(db.pool, second ?? message());
      const handler = await begin(db);
      await a.over(handler.client).call(lane.completes(held === undefined ? [] : [held]), noRoom);
      await handler.query(
        `update wh_active_streams set available_at = available_at + interval '${seconds} seconds'`,
      );
      await db.pool.query(
        `update wh_lanes set next_from = next_from + interval '${seconds} seconds', free_from = free_from + interval '${seconds} seconds'`,
      );
      expect(await b.call(takeover)).toEqual([]);
      await handler.query('commit');
      expect(ids(await b.call({ p_spare_outbox_streams: 1, p_spare_inbox_streams: 1 }))).toEqual([
        second?.message_id,
      ]);
    });
  });
});

it.for(steps)(
  'a clock that goes forward by %i seconds and back again hides no message',
  async (seconds, { db, a }) => {
    for (const lane of lanes) {
      await floorsRise(db, lane, a);
      await setClockBack(db, -seconds);
      await floorsRise(db, lane, a);
      await setClockBack(db, seconds);
      const sent = message();
      await lane.insertPlain(db.pool, sent);
      expect(ids(await a.call())).toEqual(ids([sent]));
    }
  },
);
