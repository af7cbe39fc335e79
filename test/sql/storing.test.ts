import { describe, expect } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { Flags, ids, it, lanes, message, reachSchedule, Status, stream } from '../support/work.js';

const later = () => new Date(Date.now() + 3_600_000).toISOString();

describe.each(lanes)('Messages stored in the %s', (lane) => {
  it('a stored message comes back at once, leased, marked as new and with all its fields', async ({ a }) => {
    const given = message({
      stream_id: crypto.randomUUID(),
      event_data: { lines: [{ sku: 'ä' }], note: null },
      metadata: { trace: 'x' },
      scope: { tenant: 7 },
    });
    expect(await a.call(lane.stores(given))).toEqual([
      {
        source: lane.source,
        message_id: given.message_id,
        stream_id: given.stream_id,
        partition_number: expect.any(Number),
        destination: 'orders',
        event_type: given.event_type,
        event_data: given.event_data,
        metadata: given.metadata,
        scope: given.scope,
        status: Status.Stored,
        flags: Flags.NewlyStored,
        attempts: 0,
        sequence_order: expect.any(Number),
        lease_expiry: expect.any(Date),
      },
    ]);
  });

  it('a stored message has the same values in its row as in the answer', async ({ db, a }) => {
    const [item] = await a.call(lane.stores(message({ stream_id: crypto.randomUUID() })));
    expect(await lane.rows(db)).toMatchObject([
      {
        message_id: item?.message_id,
        [lane.target]: 'orders',
        partition_number: item?.partition_number,
        is_event: false,
        status: Status.Stored,
        flags: Flags.NewlyStored,
        sequence_order: String(item?.sequence_order),
        attempts: 0,
        error: null,
        scheduled_for: null,
        instance_id: a.id,
        lease_expiry: item?.lease_expiry,
        [lane.storedAt]: expect.any(Date),
        processed_at: null,
      },
    ]);
  });

  it('a message stored without metadata and scope has empty metadata and no scope', async ({ a }) => {
    expect(await a.call(lane.stores(message()))).toMatchObject([{ metadata: {}, scope: null }]);
  });

  it.for([false, 0, '', [], {}])('a message may carry %j as its data', async (event_data, { a }) => {
    expect(await a.call(lane.stores(message({ event_data })))).toMatchObject([{ event_data }]);
  });

  it('a stored message may have null in every optional field', async ({ a }) => {
    const nulls = { metadata: null, scope: null, stream_id: null, is_event: null, scheduled_for: null };
    const bare = { ...message(), ...nulls, expected_version: null, [lane.target]: 'orders' };
    expect(await a.call({ [`p_new_${lane.source}_messages`]: [bare] })).toMatchObject([
      { message_id: bare.message_id, stream_id: null, metadata: {} },
    ]);
  });

  it('a message is no longer marked as new when it is handed out again', async ({ a }) => {
    const work = await a.call(lane.stores(message()));
    expect(await a.call(lane.releases(work))).toMatchObject([{ flags: Flags.None }]);
  });

  it('an instance leases what it stores, also in partitions of others', async ({ a, b }) => {
    await b.call();
    expect(await a.call(lane.stores(...Array.from({ length: 20 }, () => message())))).toHaveLength(20);
  });
});

describe.each(lanes)('Scheduled messages in the %s', (lane) => {
  it('a scheduled message is not handed out before its time', async ({ db, a, b }) => {
    const scheduled = message({ scheduled_for: later() });
    expect(await a.call(lane.stores(scheduled))).toEqual([]);
    expect(await b.call({ p_takeover_seconds: 0 })).toEqual([]);
    await reachSchedule(db);
    expect(ids(await b.call({ p_takeover_seconds: 0 }))).toEqual([scheduled.message_id]);
  });

  it('a scheduled message blocks later messages of its stream, not earlier ones', async ({ db, a }) => {
    const [first, second, third] = stream(3);
    if (!first || !second || !third) throw new Error('three messages');
    const work = await a.call(lane.stores(first, { ...second, scheduled_for: later() }, third));
    expect(ids(work)).toEqual([first.message_id]);
    expect(await a.call(lane.completes(work))).toEqual([]);
    await reachSchedule(db);
    expect(ids(await a.call())).toEqual(ids([second, third]));
  });

  it('a scheduled message blocks what another call stores behind it', async ({ db, a }) => {
    const [first, second] = stream(2);
    if (!first || !second) throw new Error('two messages');
    await a.call(lane.stores({ ...first, scheduled_for: later() }));
    expect(await a.call(lane.stores(second))).toEqual([]);
    expect(await a.call()).toEqual([]);
    await reachSchedule(db);
    expect(ids(await a.call())).toEqual(ids([first, second]));
  });

  it('a scheduled message blocks no other stream', async ({ a }) => {
    expect(await a.call(lane.stores(message({ scheduled_for: later() }), message()))).toHaveLength(1);
  });

  it('a message scheduled for the past is handed out at once', async ({ a }) => {
    const past = new Date(Date.now() - 3_600_000).toISOString();
    expect(await a.call(lane.stores(message({ scheduled_for: past })))).toMatchObject([
      { flags: Flags.NewlyStored },
    ]);
  });

  it('a plainly inserted scheduled message waits for its time and blocks its stream', async ({ db, a }) => {
    const [first, second] = stream(2);
    if (!first || !second) throw new Error('two messages');
    await lane.insertPlain(db.pool, { ...first, scheduled_for: later() }, second);
    expect(await a.call()).toEqual([]);
    expect(await a.call()).toEqual([]);
    await reachSchedule(db);
    expect(ids(await a.call())).toEqual(ids([first, second]));
  });
});

it.each(['outbox', 'inbox'] as const)(
  'the database counts the delay of a message in the %s',
  async (lane) => {
    await using db = await createTestDatabase();
    const id = crypto.randomUUID();
    const target = lane === 'outbox' ? 'destination' : 'handler_name';
    const message = { message_id: id, [target]: 'x', event_type: 't', event_data: {}, delay_seconds: 90.5 };
    const { rows: items } = await db.pool.query(
      `select 1 from process_work_batch(gen_random_uuid(), 's', 'h', 1, p_new_${lane}_messages => $1::text::jsonb)`,
      [JSON.stringify([message])],
    );
    expect(items).toEqual([]);
    const stored = lane === 'outbox' ? 'created_at' : 'received_at';
    const { rows } = await db.pool.query(
      `select round(extract(epoch from scheduled_for - ${stored}))::int as seconds from wh_${lane} where message_id = $1`,
      [id],
    );
    expect(rows).toEqual([{ seconds: expect.closeTo(90, -0.6) }]);
  },
);
