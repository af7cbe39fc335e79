import { describe, expect } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { Flags, ids, it, lanes, message, reachSchedule, Status, stream } from '../support/work.js';

const later = () => new Date(Date.now() + 3_600_000).toISOString();

describe.each(lanes)('A message stored in the %s', (lane) => {
  it('comes back at once, leased and marked as new, with all that was given', async ({ a }) => {
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

  it('is stored as it comes back', async ({ db, a }) => {
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

  it('has empty metadata and no scope when none is given', async ({ a }) => {
    expect(await a.call(lane.stores(message()))).toMatchObject([{ metadata: {}, scope: null }]);
  });

  it.for([false, 0, '', [], {}])('may carry %j as its data', async (event_data, { a }) => {
    expect(await a.call(lane.stores(message({ event_data })))).toMatchObject([{ event_data }]);
  });

  it('takes null for what is optional', async ({ a }) => {
    const nulls = { metadata: null, scope: null, stream_id: null, is_event: null, scheduled_for: null };
    const bare = { ...message(), ...nulls, expected_version: null, [lane.target]: 'orders' };
    expect(await a.call({ [`p_new_${lane.source}_messages`]: [bare] })).toMatchObject([
      { message_id: bare.message_id, stream_id: null, metadata: {} },
    ]);
  });

  it('is no longer marked as new when it is handed out again', async ({ a }) => {
    const work = await a.call(lane.stores(message()));
    expect(await a.call(lane.releases(work))).toMatchObject([{ flags: Flags.None }]);
  });

  it('by an instance that does not own its partition is that instance’s all the same', async ({ a, b }) => {
    await b.call();
    expect(await a.call(lane.stores(...Array.from({ length: 20 }, () => message())))).toHaveLength(20);
  });
});

describe.each(lanes)('A message for later in the %s', (lane) => {
  it('is not handed out before its time', async ({ db, a, b }) => {
    const scheduled = message({ scheduled_for: later() });
    expect(await a.call(lane.stores(scheduled))).toEqual([]);
    expect(await b.call({ p_takeover_seconds: 0 })).toEqual([]);
    await reachSchedule(db);
    expect(ids(await b.call({ p_takeover_seconds: 0 }))).toEqual([scheduled.message_id]);
  });

  it('blocks what follows in its stream, not what came before', async ({ db, a }) => {
    const [first, second, third] = stream(3);
    if (!first || !second || !third) throw new Error('three messages');
    const work = await a.call(lane.stores(first, { ...second, scheduled_for: later() }, third));
    expect(ids(work)).toEqual([first.message_id]);
    expect(await a.call(lane.completes(work))).toEqual([]);
    await reachSchedule(db);
    expect(ids(await a.call())).toEqual(ids([second, third]));
  });

  it('blocks what is stored after it by another call', async ({ db, a }) => {
    const [first, second] = stream(2);
    if (!first || !second) throw new Error('two messages');
    await a.call(lane.stores({ ...first, scheduled_for: later() }));
    expect(await a.call(lane.stores(second))).toEqual([]);
    expect(await a.call()).toEqual([]);
    await reachSchedule(db);
    expect(ids(await a.call())).toEqual(ids([first, second]));
  });

  it('blocks no other stream', async ({ a }) => {
    expect(await a.call(lane.stores(message({ scheduled_for: later() }), message()))).toHaveLength(1);
  });

  it('whose time has passed is handed out at once', async ({ a }) => {
    const past = new Date(Date.now() - 3_600_000).toISOString();
    expect(await a.call(lane.stores(message({ scheduled_for: past })))).toMatchObject([
      { flags: Flags.NewlyStored },
    ]);
  });

  it('that was inserted plainly waits just so', async ({ db, a }) => {
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
  'A delay of a message in the %s is counted by the database',
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
