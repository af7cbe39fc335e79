// The floors of the searches (wh_lanes) rise with the traffic. Whoever comes below them late must still be found.
import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { openSession, waitUntilBlocked } from '../support/sessions.js';
import { type Instance, ids, it, type Lane, lanes, message, stream, streams } from '../support/work.js';
import { begin, noRoom, takeover } from './transactions.js';

/** Traffic of several minutes: the floors are free to rise with every call. */
async function minutesOfTraffic(db: TestDatabase, lane: Lane, by: Instance): Promise<void> {
  for (let round = 0; round < 6; round++) {
    const items = await by.call(lane.stores(...streams(3)));
    await floorsMayMove(db);
    await by.call(lane.completes(items), noRoom);
    await floorsMayMove(db);
  }
}

/** As if 20 seconds had passed since they moved; the sweep of every minute is not due. */
async function floorsMayMove(db: TestDatabase): Promise<void> {
  await db.pool.query(
    `update wh_lanes set moved_at = moved_at - interval '20 seconds', swept_at = clock_timestamp()
     where lane in (select lane from wh_lanes for update skip locked)`,
  );
}

/** The next call does not move them, so it does not lock their rows either. */
async function floorsRest(db: TestDatabase): Promise<void> {
  await db.pool.query('update wh_lanes set moved_at = clock_timestamp()');
}

async function floorOf(db: TestDatabase, lane: Lane): Promise<number> {
  const { rows } = await db.pool.query('select admitted_below from wh_lanes where lane = $1', [lane.source]);
  return Number(rows[0].admitted_below);
}

describe.each(lanes)('Late arrivals below the floors of the $source', (lane) => {
  it('the floors rise with the traffic of these tests', async ({ db, a }) => {
    // Other tests on the same server may hold them back for a while with their transactions.
    await eventually(async () => {
      await minutesOfTraffic(db, lane, a);
      expect(await floorOf(db, lane)).toBeGreaterThan(5);
    });
  });

  it('a plain insert that commits minutes later is handed out at once', async ({ db, a }) => {
    const early = message();
    const writer = await begin(db);
    await lane.insertPlain(writer.client, early);
    await minutesOfTraffic(db, lane, a);
    await writer.query('commit');
    expect(ids(await a.call())).toEqual(ids([early]));
  });

  it('a message stored in a transaction that stayed open is handed out at once', async ({ db, a, b }) => {
    const early = message();
    await b.call();
    await floorsRest(db);
    const writer = await begin(db);
    await b.over(writer.client).call(lane.stores(early), lane.room(0));
    await minutesOfTraffic(db, lane, a);
    await writer.query('commit');
    expect(ids(await a.with(takeover).call())).toEqual(ids([early]));
  });

  it('a stream freed in a transaction that stayed open is handed out at once', async ({ db, a, b }) => {
    const held = await b.call(lane.stores(...stream(2)));
    await floorsRest(db);
    const writer = await begin(db);
    await b.over(writer.client).call(lane.releases(held), noRoom);
    await minutesOfTraffic(db, lane, a);
    await writer.query('commit');
    expect(ids(await a.with(takeover).call())).toEqual(ids(held));
  });

  it('a stream of an instance deregistered in a transaction that stayed open is handed out at once', async ({
    db,
    a,
    b,
  }) => {
    const held = await b.call(lane.stores(...stream(2)));
    const writer = await begin(db);
    await writer.query('select deregister_instance($1)', [b.id]);
    await minutesOfTraffic(db, lane, a);
    await writer.query('commit');
    expect(ids(await a.with(takeover).call())).toEqual(ids(held));
  });

  it('a stream leased in a transaction that stayed open past the lease is taken over at once', async ({
    db,
    a,
    b,
  }) => {
    await b.call(lane.releases(await b.call(lane.stores(...stream(2)))), lane.room(0));
    await floorsRest(db);
    const writer = await begin(db);
    const held = await b.over(writer.client).call({ p_lease_seconds: 1, p_takeover_seconds: 0 });
    expect(held).toHaveLength(2);
    await minutesOfTraffic(db, lane, a);
    await writer.query('commit');
    await db.pool.query('select pg_sleep(extract(epoch from $1::timestamptz - clock_timestamp()) + 0.01)', [
      held[0]?.lease_expiry,
    ]);
    await minutesOfTraffic(db, lane, a.with(lane.room(3)));
    expect(ids(await a.call())).toEqual(ids(held));
  });

  it('a message that commits after its stream was found empty and before it is closed is handed out', async ({
    db,
    a,
    b,
  }) => {
    const [first, second] = stream(2);
    const held = await b.call(lane.stores(first ?? message()));
    const writer = await begin(db);
    await lane.insertPlain(writer.client, second ?? message());
    await minutesOfTraffic(db, lane, a); // its number is noted
    const finisher = await begin(db);
    await b.over(finisher.client).call(lane.completes(held), noRoom);
    await writer.query('commit');
    await minutesOfTraffic(db, lane, a); // it is seen in a stream that still has a row
    await finisher.query('commit');
    expect(ids(await a.with(takeover).call())).toEqual(ids([second ?? message()]));
  });

  it('a message whose order number is much older than its row is handed out in a quiet system', async ({
    db,
    a,
  }) => {
    await minutesOfTraffic(db, lane, a);
    const gate = await openSession(db);
    await gate.client.query('select pg_advisory_lock(1)');
    const writer = await begin(db);
    const early = message();
    // The columns are computed in their order: sequence_order first, scheduled_for after the gate has opened.
    const inserting = writer.query(
      `insert into ${lane.table} (message_id, ${lane.target}, event_type, event_data, scheduled_for)
       values ($1, 'orders', 'shop.OrderPlaced', '{}', (select now() from pg_advisory_xact_lock(1)))`,
      [early.message_id],
    );
    await waitUntilBlocked(db, writer.pid);
    await minutesOfTraffic(db, lane, a);
    await gate.client.query('select pg_advisory_unlock(1)');
    await inserting;
    await minutesOfTraffic(db, lane, a);
    await writer.query('commit');
    // Nobody stores or reports any more. Transactions of other tests on the same server may put off the sweep.
    const handedOut: string[] = [];
    for (let calls = 0; calls < 1000 && handedOut.length === 0; calls++) {
      await db.pool.query(
        "update wh_lanes set moved_at = moved_at - interval '2 minutes', swept_at = swept_at - interval '2 minutes'",
      );
      handedOut.push(...ids(await a.call()));
    }
    expect(handedOut).toEqual(ids([early]));
  });
});

describe.each(lanes)('An old snapshot beside the $source', (lane) => {
  it('no message is lost or overtaken while an old snapshot is held open', async ({ db, a }) => {
    const snapshot = await openSession(db);
    await snapshot.client.query('begin isolation level repeatable read');
    await snapshot.client.query('select count(*) from wh_outbox');
    const stream_id = crypto.randomUUID();
    const sent: string[] = [];
    const handedOut: string[] = [];
    let held = await a.call();
    for (let round = 0; round < 60; round++) {
      const [plain, stored] = stream(2, { stream_id }) as [never, never];
      await lane.insertPlain(db.pool, plain);
      const items = await a.call(lane.completes(held), lane.stores(stored));
      handedOut.push(...ids(items));
      held = items;
      sent.push(...ids([plain, stored]));
      await db.pool.query("update wh_lanes set moved_at = moved_at - interval '2 seconds'");
    }
    while (held.length > 0) {
      held = await a.call(lane.completes(held));
      handedOut.push(...ids(held));
    }
    expect(handedOut).toEqual(sent);
  });
});
