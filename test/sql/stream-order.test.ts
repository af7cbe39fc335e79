// The decision matrix of cross-instance stream ordering, row by row, and what a stream is.
import { describe, expect } from 'vitest';
import { expireLeases, ids, it, lanes, message, reachSchedule, stream } from '../support/work.js';

describe.each(lanes)('In the %s, later messages of a stream', (lane) => {
  it('are handed out together with an earlier one that nobody holds, in order', async ({ db, a }) => {
    const messages = stream(3);
    await lane.insertPlain(db.pool, ...messages);
    expect(ids(await a.call())).toEqual(ids(messages));
  });

  it('are handed out together with an earlier one whose lease has run out, in order', async ({
    db,
    a,
    b,
  }) => {
    const messages = stream(3);
    await a.call(lane.stores(...messages), lane.room(1));
    await expireLeases(db, a);
    expect(ids(await b.call())).toEqual(ids(messages));
  });

  it('are not handed out to another instance while an earlier one is held', async ({ a, b }) => {
    await a.call(lane.stores(...stream(4)), lane.room(2));
    expect(await b.call({ p_takeover_seconds: 0 })).toEqual([]);
  });

  it('are not handed out to the holder of an earlier one either, until it has reported', async ({ a }) => {
    const [first, ...later] = stream(3);
    const held = await a.call(lane.stores(first ?? message(), ...later), lane.room(1));
    expect(await a.call()).toEqual([]);
    expect(ids(await a.call(lane.completes(held)))).toEqual(ids(later));
  });

  it('wait until the last of those that are held is reported', async ({ a, b }) => {
    const messages = stream(4);
    const [first, second] = await a.call(lane.stores(...messages), lane.room(2));
    await a.call(lane.completes([second ?? message()]));
    expect(await b.call({ p_takeover_seconds: 0 })).toEqual([]);
    await a.call(lane.completes([first ?? message()]), lane.room(0));
    expect(ids(await b.call({ p_takeover_seconds: 0 }))).toEqual(ids(messages.slice(2)));
  });

  it('are handed out to another instance when the earlier ones are done', async ({ a, b }) => {
    const messages = stream(4);
    const held = await a.call(lane.stores(...messages), lane.room(2));
    await a.call(lane.completes(held), lane.room(0));
    expect(ids(await b.call({ p_takeover_seconds: 0 }))).toEqual(ids(messages.slice(2)));
  });

  it('are not handed out while an earlier one is scheduled for a retry', async ({ a, b }) => {
    const held = await a.call(lane.stores(...stream(3)), lane.room(1));
    await a.call(lane.fails(held, { retry_after_seconds: 60 }), lane.room(0));
    expect(await a.call()).toEqual([]);
    expect(await b.call({ p_takeover_seconds: 0 })).toEqual([]);
  });

  it('that come in while an earlier one is held wait for it', async ({ a, b }) => {
    const [first, second, third] = stream(3);
    if (!first || !second || !third) throw new Error('three messages');
    await a.call(lane.stores(first));
    expect(await a.call(lane.stores(second))).toEqual([]);
    expect(await b.call(lane.stores(third))).toEqual([]);
    expect(ids(await a.call(lane.completes([first]), { p_takeover_seconds: 0 }))).toEqual(
      ids([second, third]),
    );
  });

  it('are not overtaken by one that is stored by an instance with room', async ({ a, b }) => {
    const [first, second] = stream(2);
    if (!first || !second) throw new Error('two messages');
    await a.call(lane.stores(first), lane.room(0));
    expect(ids(await b.call(lane.stores(second), { p_takeover_seconds: 0 }))).toEqual(ids([first, second]));
  });
});

describe.each(lanes)('In the %s, order', (lane) => {
  it('is that of the array', async ({ a }) => {
    const messages = stream(200);
    const work = await a.call(lane.stores(...messages));
    expect(ids(work)).toEqual(ids(messages));
    const orders = work.map(({ sequence_order }) => sequence_order);
    expect(orders).toEqual([...orders].sort((x, y) => x - y));
  });

  it('is that of the calls', async ({ a }) => {
    const messages = stream(20);
    for (const each of messages) await a.call(lane.stores(each), lane.room(0));
    expect(ids(await a.call())).toEqual(ids(messages));
  });

  it('is that of sequence_order, whatever the time columns say', async ({ db, a }) => {
    const messages = stream(5);
    await a.call(lane.stores(...messages), lane.room(0));
    await db.pool.query(
      `update ${lane.table} set ${lane.storedAt} = now() - sequence_order * interval '1 hour'`,
    );
    expect(ids(await a.call())).toEqual(ids(messages));
  });

  it('does not bind streams to each other', async ({ db, a, b }) => {
    const [blocked, free] = [stream(2), stream(2)];
    await lane.insertPlain(db.pool, ...blocked, ...free);
    const all = await a.call();
    await a.call(
      lane.fails(all.slice(0, 2), { retry_after_seconds: 60 }),
      lane.releases(all.slice(2)),
      lane.room(0),
    );
    expect(ids(await b.call({ p_takeover_seconds: 0 }))).toEqual(ids(free));
  });

  it('does not bind the two lanes to each other', async ({ a, b }) => {
    const stream_id = crypto.randomUUID();
    const other = lanes.find((each) => each !== lane) ?? lane;
    await a.call(lane.stores(message({ stream_id })));
    expect(await b.call(other.stores(message({ stream_id })))).toHaveLength(1);
  });
});

describe.each(lanes)('In the %s, a message without a stream', (lane) => {
  it('is handed out whatever the others do', async ({ a, b }) => {
    await a.call(lane.stores(message(), message()));
    expect(await b.call(lane.stores(message()))).toHaveLength(1);
  });

  it('has a stream_id of null and a partition', async ({ a }) => {
    const [item] = await a.call(lane.stores(message()));
    expect(item).toMatchObject({ stream_id: null, partition_number: expect.any(Number) });
  });

  it('is reclaimed when its lease has run out', async ({ db, a, b }) => {
    const alone = message();
    await a.call(lane.stores(alone));
    await expireLeases(db, a);
    expect(ids(await b.call())).toEqual([alone.message_id]);
  });

  it('is retried when its time has come', async ({ db, a, b }) => {
    const alone = message();
    await a.call(lane.fails(await a.call(lane.stores(alone)), { retry_after_seconds: 60 }));
    expect(await a.call()).toEqual([]);
    await reachSchedule(db);
    expect(ids(await b.call({ p_takeover_seconds: 0 }))).toEqual([alone.message_id]);
  });

  it('is taken over by another instance when it waits', async ({ db, a, b }) => {
    await a.call();
    const several = Array.from({ length: 10 }, () => message());
    await lane.insertPlain(db.pool, ...several);
    expect(await b.call({ p_takeover_seconds: 0 })).toHaveLength(10);
  });
});

describe.each(lanes)('In the %s, the all-zero stream', (lane) => {
  it('is a stream like any other', async ({ a, b }) => {
    const zero = stream(3, { stream_id: '00000000-0000-0000-0000-000000000000' });
    const held = await a.call(lane.stores(...zero), lane.room(1));
    expect(ids(held)).toEqual(ids(zero.slice(0, 1)));
    expect(await b.call({ p_takeover_seconds: 0 })).toEqual([]);
    const rest = await a.call(lane.completes(held));
    expect(ids(rest)).toEqual(ids(zero.slice(1)));
    await a.call(lane.completes(rest));
    expect(await a.call()).toEqual([]);
  });
});
