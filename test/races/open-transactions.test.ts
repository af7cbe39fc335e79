// An application's transaction that stays open must not hold up a worker's call. The detector is lock_timeout:
// a call that waits for any lock fails at once instead of waiting.
import type pg from 'pg';
import { describe, expect } from 'vitest';
import { ids, it, lanes, message, type NewMessage, outbox, stream } from '../support/work.js';
import { begin, impatient, noRoom, takeover } from './transactions.js';

async function insertPlainEvent(connection: Pick<pg.Client, 'query'>, event: NewMessage) {
  await connection.query(
    `insert into wh_outbox (message_id, destination, event_type, event_data, stream_id, is_event)
     values ($1, 'orders', 'shop.OrderPlaced', '{}', $2, true)`,
    [event.message_id, event.stream_id],
  );
}

describe.each(lanes)('Workers of the $source beside an open transaction', (lane) => {
  it('a worker does not wait for a transaction that has plainly inserted into the same stream', async ({
    db,
    a,
  }) => {
    const [first, second, third] = stream(3) as [NewMessage, NewMessage, NewMessage];
    const application = await begin(db);
    await lane.insertPlain(application.client, first);
    const worker = a.over(await impatient(db));
    expect(ids(await worker.call(lane.stores(second)))).toEqual(ids([second]));
    expect(ids(await worker.call(lane.completes([second]), lane.stores(third)))).toEqual(ids([third]));
    await application.query('commit');
    expect(ids(await worker.call(lane.completes([third])))).toEqual(ids([first]));
  });

  it('a worker does not wait for a transaction that has stored into the same stream without room', async ({
    db,
    a,
    b,
  }) => {
    const [first, second] = stream(2) as [NewMessage, NewMessage];
    await a.call();
    const application = await begin(db);
    await b.over(application.client).call(lane.stores(first), noRoom);
    const worker = a.over(await impatient(db));
    expect(ids(await worker.call(lane.stores(second)))).toEqual(ids([second]));
    await application.query('commit');
    expect(ids(await worker.call(lane.completes([second]), takeover))).toEqual(ids([first]));
  });

  it('a worker that stores into a stream does not wait for an open completion in it', async ({
    db,
    a,
    b,
  }) => {
    const [first, second] = stream(2) as [NewMessage, NewMessage];
    await a.call(lane.stores(first));
    await b.call();
    const handler = await begin(db);
    await a.over(handler.client).call(lane.completes([first]), noRoom);
    const worker = b.over(await impatient(db));
    await worker.call(lane.stores(second));
    await handler.query('commit');
    expect(ids(await worker.with(takeover).call())).toEqual(ids([second]));
  });

  it('a worker that finds a plain insert does not wait for an open completion in its stream', async ({
    db,
    a,
    b,
  }) => {
    const [first, second] = stream(2) as [NewMessage, NewMessage];
    await a.call(lane.stores(first));
    await b.call();
    const handler = await begin(db);
    await a.over(handler.client).call(lane.completes([first]), noRoom);
    await lane.insertPlain(db.pool, second);
    const worker = b.over(await impatient(db));
    expect(ids(await worker.call())).toEqual([]);
    await handler.query('commit');
    expect(ids(await worker.with(takeover).call())).toEqual(ids([second]));
  });

  it('a worker does not wait for a transaction that has failed a message of the stream', async ({
    db,
    a,
    b,
  }) => {
    const [first, second] = stream(2) as [NewMessage, NewMessage];
    await a.call(lane.stores(first));
    await b.call();
    const handler = await begin(db);
    await a.over(handler.client).call(lane.fails([first], { retry_after_seconds: -1 }), noRoom);
    await lane.insertPlain(db.pool, second);
    const worker = b.over(await impatient(db)).with(takeover);
    expect(ids(await worker.call())).toEqual([]);
    await handler.query('commit');
    expect(ids(await worker.call())).toEqual(ids([first, second]));
  });

  it('a worker does not wait for a transaction that has renewed a lease in the stream', async ({
    db,
    a,
    b,
  }) => {
    const [first, second] = stream(2) as [NewMessage, NewMessage];
    await a.call(lane.stores(first));
    await b.call();
    const application = await begin(db);
    await a.over(application.client).call(lane.renews([first]), noRoom);
    await lane.insertPlain(db.pool, second);
    const worker = b.over(await impatient(db));
    expect(ids(await worker.call())).toEqual([]);
    await application.query('commit');
  });
});

describe('Workers beside a locked version row', () => {
  it('a worker does not wait for a locked version row, and gets the event when it is appended', async ({
    db,
    a,
  }) => {
    const [first, second] = stream(2, { is_event: true }) as [NewMessage, NewMessage];
    await a.call(outbox.completes(await a.call(outbox.stores(first))), noRoom);
    const application = await begin(db);
    await application.query('select from wh_event_streams for update');
    const worker = a.over(await impatient(db));
    expect(await worker.call(outbox.stores(second))).toEqual([]);
    expect(await worker.call()).toEqual([]);
    await application.query('commit');
    await db.pool.query('update wh_active_streams set available_at = clock_timestamp()');
    expect(ids(await worker.call())).toEqual([second.message_id]);
    const { rows } = await db.pool.query('select event_id, version from wh_event_store order by version');
    expect(rows).toEqual([
      { event_id: first.message_id, version: '1' },
      { event_id: second.message_id, version: '2' },
    ]);
  });

  it('a worker that stores an event does not wait for an open append with an expected version', async ({
    db,
    a,
    b,
  }) => {
    const [first, second, third] = stream(3, { is_event: true }) as [NewMessage, NewMessage, NewMessage];
    await a.call(outbox.completes(await a.call(outbox.stores(first))), noRoom);
    await b.call();
    const application = await begin(db);
    await b.over(application.client).call(outbox.stores({ ...second, expected_version: 1 }), noRoom);
    const worker = a.over(await impatient(db));
    expect(await worker.call(outbox.stores(third))).toEqual([]);
    await application.query('commit');
  });

  it('a worker that finds a plainly inserted event does not wait for an open append', async ({
    db,
    a,
    b,
  }) => {
    const [first, second, third] = stream(3, { is_event: true }) as [NewMessage, NewMessage, NewMessage];
    await a.call(outbox.completes(await a.call(outbox.stores(first))), noRoom);
    await b.call();
    const application = await begin(db);
    await b.over(application.client).call(outbox.stores({ ...second, expected_version: 1 }), noRoom);
    await insertPlainEvent(db.pool, third);
    const worker = a.over(await impatient(db));
    expect(await worker.call()).toEqual([]);
    await application.query('commit');
  });

  it('a worker does not wait for an open append that begins the versions of a stream', async ({
    db,
    a,
    b,
  }) => {
    const [first, second] = stream(2, { is_event: true }) as [NewMessage, NewMessage];
    await a.call();
    await b.call();
    const application = await begin(db);
    await b.over(application.client).call(outbox.stores({ ...first, expected_version: 0 }), noRoom);
    await insertPlainEvent(db.pool, second);
    const worker = a.over(await impatient(db));
    expect(await worker.call()).toEqual([]);
    await application.query('commit');
  });
});

it('a worker does not wait for an open transaction that registers its instance', async ({ db, a }) => {
  const application = await begin(db);
  await a.over(application.client).call(outbox.stores(message()), noRoom);
  expect(await a.over(await impatient(db)).call()).toEqual([]);
  await application.query('commit');
});
