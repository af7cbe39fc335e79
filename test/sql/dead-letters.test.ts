import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { ids, it, lanes, message, reachSchedule, Status, stream } from '../support/work.js';

const deadLetters = async (db: TestDatabase) =>
  (await db.pool.query('select * from wh_dead_letters order by dead_letter_id')).rows;

describe.each(lanes)('Dead letters of the %s', (lane) => {
  it('a message that is given up moves to wh_dead_letters with all its columns', async ({ db, a }) => {
    const given = message({
      stream_id: crypto.randomUUID(),
      event_type: 'shop.OrderPlacedEvent',
      event_data: { total: 12.5, lines: [1, 2] },
      metadata: { trace: 'x' },
      scope: { tenant: 7 },
      is_event: true,
    });
    const work = await a.call(lane.stores(given));
    const [stored] = await lane.rows(db);
    await a.call(
      lane.fails(work, { dead_letter: true, error: 'no such customer', completed_status: lane.partly }),
    );
    expect(await lane.rows(db)).toEqual([]);
    expect(await deadLetters(db)).toEqual([
      {
        dead_letter_id: expect.any(String),
        source: lane.source,
        message_id: given.message_id,
        destination: 'orders',
        event_type: given.event_type,
        event_data: given.event_data,
        metadata: given.metadata,
        scope: given.scope,
        stream_id: given.stream_id,
        partition_number: stored?.partition_number,
        is_event: true,
        status: Status.Stored | Status.EventStored | lane.partly | Status.Failed,
        flags: stored?.flags,
        sequence_order: stored?.sequence_order,
        attempts: 1,
        error: 'no such customer',
        stored_at: stored?.[lane.storedAt],
        died_at: expect.any(Date),
        instance_id: a.id,
        failures: [{ at: expect.any(String), attempt: 1, instance_id: a.id, error: 'no such customer' }],
        priority: null,
      },
    ]);
  });

  it('the stream of a dead letter goes on', async ({ a, b }) => {
    const work = await a.call(lane.stores(...stream(3)));
    await a.call(
      lane.fails(work.slice(0, 1), { dead_letter: true }),
      lane.releases(work.slice(1)),
      lane.room(0),
    );
    expect(ids(await b.call({ p_takeover_seconds: 0 }))).toEqual(ids(work.slice(1)));
  });

  it('a dead letter that was the last of its stream leaves no stream row behind', async ({ db, a }) => {
    await a.call(lane.fails(await a.call(lane.stores(...stream(1))), { dead_letter: true }));
    expect((await db.pool.query('select from wh_active_streams')).rowCount).toBe(0);
  });

  it('a failure with dead_letter gives the message up, whatever delay comes with it', async ({ db, a }) => {
    const work = await a.call(lane.stores(message()));
    await a.call(lane.fails(work, { dead_letter: true, retry_after_seconds: 60 }));
    expect(await deadLetters(db)).toHaveLength(1);
  });

  it('a dead letter is not handed out again', async ({ db, a }) => {
    await a.call(lane.fails(await a.call(lane.stores(message())), { dead_letter: true }));
    await reachSchedule(db);
    expect(await a.call({ p_takeover_seconds: 0 })).toEqual([]);
  });
});

describe.each(lanes)('The tenth failure in the %s', (lane) => {
  it('the tenth failure of a message makes it a dead letter by default', async ({ db, a }) => {
    let work = await a.call(lane.stores(message()));
    for (let failure = 1; failure <= 10; failure++) {
      expect(work).toHaveLength(1);
      expect(await deadLetters(db)).toEqual([]);
      await a.call(lane.fails(work, { error: `attempt ${failure}` }));
      await reachSchedule(db);
      work = await a.call();
    }
    expect(work).toEqual([]);
    expect(await deadLetters(db)).toMatchObject([{ attempts: 10, error: 'attempt 10' }]);
  });

  it.for([
    ['dead_letter is false', { dead_letter: false }],
    ['a delay is given', { retry_after_seconds: 1 }],
  ] as const)(
    'the tenth failure of a message makes no dead letter when %s',
    async ([, failure], { db, a }) => {
      const work = await a.call(lane.stores(message()));
      await db.pool.query(`update ${lane.table} set attempts = 9`);
      await a.call(lane.fails(work, failure));
      expect(await lane.rows(db)).toMatchObject([{ attempts: 10 }]);
      expect(await deadLetters(db)).toEqual([]);
    },
  );
});
