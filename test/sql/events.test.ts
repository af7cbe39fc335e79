import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { ids, it, lanes, message, Status, stream } from '../support/work.js';

const events = async (db: TestDatabase) =>
  (await db.pool.query('select *, version::int from wh_event_store order by sequence_number')).rows;
const versions = async (db: TestDatabase) =>
  (await events(db)).map(({ event_id, version }) => [event_id, version]);

describe.each(lanes)('Events stored in the %s', (lane) => {
  it('a stored event is appended to the event store with all its fields', async ({ db, a }) => {
    const [event] = stream(1, {
      is_event: true,
      event_type: 'shop.OrderPlacedEvent',
      event_data: { total: 12 },
      metadata: { trace: 'x' },
      scope: { tenant: 7 },
    });
    if (!event) throw new Error('one event');
    await a.call(lane.stores(event));
    expect(await events(db)).toEqual([
      {
        event_id: event.message_id,
        stream_id: event.stream_id,
        version: 1,
        event_type: event.event_type,
        aggregate_type: 'OrderPlaced',
        event_data: event.event_data,
        metadata: event.metadata,
        scope: event.scope,
        sequence_number: expect.any(String),
        transaction_id: expect.any(String),
        created_at: expect.any(Date),
      },
    ]);
  });

  it('an event is appended in the transaction of the call that stores it', async ({ db, a }) => {
    const client = await db.connect();
    await client.query('begin');
    await a.over(client).call(lane.stores(...stream(2, { is_event: true })));
    expect((await client.query('select from wh_event_store')).rowCount).toBe(2);
    await client.query('rollback');
    expect(await events(db)).toEqual([]);
    expect(await lane.rows(db)).toEqual([]);
  });

  it('events of a stream get the versions 1 to n over several calls', async ({ db, a }) => {
    const [one, other] = [stream(4, { is_event: true }), stream(2, { is_event: true })];
    await a.call(lane.stores(...one.slice(0, 3), ...other));
    await a.call(lane.stores(...one.slice(3)));
    expect(await versions(db)).toEqual([
      [one[0]?.message_id, 1],
      [one[1]?.message_id, 2],
      [one[2]?.message_id, 3],
      [other[0]?.message_id, 1],
      [other[1]?.message_id, 2],
      [one[3]?.message_id, 4],
    ]);
  });

  it('an event is handed out with the status of a stored and appended one', async ({ a }) => {
    expect(await a.call(lane.stores(...stream(1, { is_event: true })))).toMatchObject([
      { status: Status.Stored | Status.EventStored },
    ]);
  });

  it.for(['shop.OrderPlaced', 'Event', 'x'])(
    'an event of the type %s is appended',
    async (event_type, { db, a }) => {
      await a.call(lane.stores(...stream(1, { is_event: true, event_type })));
      expect(await events(db)).toMatchObject([{ event_type }]);
    },
  );

  it('an event without a stream is not appended', async ({ db, a }) => {
    expect(await a.call(lane.stores(message({ is_event: true })))).toMatchObject([{ status: Status.Stored }]);
    expect(await events(db)).toEqual([]);
  });

  it('a message that is not marked as an event is not appended, whatever its type', async ({ db, a }) => {
    const event_type = 'shop.OrderPlacedEvent';
    await a.call(lane.stores(...stream(1, { event_type }), ...stream(1, { event_type, is_event: false })));
    expect(await events(db)).toEqual([]);
  });

  it('an event stored without room is appended by the time it is handed out', async ({ db, a }) => {
    const several = stream(3, { is_event: true });
    await a.call(lane.stores(...several), lane.room(0));
    expect(ids(await a.call())).toEqual(ids(several));
    expect(await versions(db)).toEqual(several.map(({ message_id }, i) => [message_id, i + 1]));
  });

  it('an event stays in the event store when its message becomes a dead letter', async ({ db, a }) => {
    const work = await a.call(lane.stores(...stream(1, { is_event: true })));
    await a.call(lane.fails(work, { dead_letter: true }));
    expect(await events(db)).toHaveLength(1);
  });

  it('an event is appended once when its call is sent again', async ({ db, a }) => {
    const several = stream(2, { is_event: true });
    await a.call(lane.stores(...several));
    await a.call(lane.stores(...several));
    expect(await versions(db)).toEqual(several.map(({ message_id }, i) => [message_id, i + 1]));
  });
});

describe.each(lanes)('Events plainly inserted into the %s', (lane) => {
  it('a plainly inserted event is appended when it is admitted, before it is handed out', async ({
    db,
    a,
  }) => {
    const plain = stream(3, { is_event: true });
    await lane.insertPlain(db.pool, ...plain);
    expect(await events(db)).toEqual([]);
    const work = await a.call();
    expect(ids(work)).toEqual(ids(plain));
    expect(work.every(({ status }) => status === (Status.Stored | Status.EventStored))).toBe(true);
    expect(await versions(db)).toEqual(plain.map(({ message_id }, i) => [message_id, i + 1]));
  });

  it('a plainly inserted event gets a lower version than an event stored after it', async ({ db, a }) => {
    const [plain, stored] = stream(2, { is_event: true });
    if (!plain || !stored) throw new Error('two events');
    await lane.insertPlain(db.pool, plain);
    await a.call(lane.stores(stored));
    await a.call();
    expect(await versions(db)).toEqual([
      [plain.message_id, 1],
      [stored.message_id, 2],
    ]);
  });

  it('a plainly inserted event gets the lower version also when many others wait to be admitted', async ({
    db,
    a,
  }) => {
    const [plain, stored] = stream(2, { is_event: true });
    if (!plain || !stored) throw new Error('two events');
    await db.pool.query(
      `insert into ${lane.table} (message_id, ${lane.target}, event_type, event_data, stream_id)
       select gen_random_uuid(), 'orders', 'shop.OrderPlaced', '{}', gen_random_uuid() from generate_series(1, 1200)`,
    );
    await lane.insertPlain(db.pool, plain);
    await a.call(lane.stores(stored), lane.room(100));
    for (let calls = 0; calls < 15; calls++) await a.call(lane.room(100));
    expect(await versions(db)).toEqual([
      [plain.message_id, 1],
      [stored.message_id, 2],
    ]);
  });

  it('a plainly inserted event is appended once, however often it is handed out', async ({ db, a }) => {
    await lane.insertPlain(db.pool, ...stream(1, { is_event: true }));
    const work = await a.call();
    await a.call(lane.releases(work));
    await a.call(lane.fails(work, { retry_after_seconds: 0 }));
    await a.call();
    expect(await events(db)).toHaveLength(1);
  });
});
