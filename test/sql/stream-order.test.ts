// The decision matrix of cross-instance stream ordering, row by row, and what a stream is.
import { describe, expect } from 'vitest';
import { expireLeases, ids, it, lanes, message, reachSchedule, stream } from '../support/work.js';

describe.each(lanes)('Later messages of a stream in the %s', (lane) => {
  it('waiting messages of a stream are handed out together, in order', async ({ db, a }) => {
    const messages = stream(3);
    await lane.insertPlain(db.pool, ...messages);
    expect(ids(await a.call())).toEqual(ids(messages));
  });

  it('later messages are handed out with an earlier one whose lease has ended, in order', async ({
    db,
    a,
    b,
  }) => {
    const messages = stream(3);
    await a.call(lane.stores(...messages), lane.room(1));
    await expireLeases(db, a);
    expect(ids(await b.call())).toEqual(ids(messages));
  });

  it('later messages are not handed to another instance while an earlier one is held', async ({ a, b }) => {
    await a.call(lane.stores(...stream(4)), lane.room(2));
    expect(await b.call({ p_takeover_seconds: 0 })).toEqual([]);
  });

  it('later messages are not handed to the holder of an earlier one until it has reported', async ({ a }) => {
    const [first, ...later] = stream(3);
    const held = await a.call(lane.stores(first ?? message(), ...later), lane.room(1));
    expect(await a.call()).toEqual([]);
    expect(ids(await a.call(lane.completes(held)))).toEqual(ids(later));
  });

  it('later messages wait until the last held one of their stream is reported', async ({ a, b }) => {
    const messages = stream(4);
    const [first, second] = await a.call(lane.stores(...messages), lane.room(2));
    await a.call(lane.completes([second ?? message()]));
    expect(await b.call({ p_takeover_seconds: 0 })).toEqual([]);
    await a.call(lane.completes([first ?? message()]), lane.room(0));
    expect(ids(await b.call({ p_takeover_seconds: 0 }))).toEqual(ids(messages.slice(2)));
  });

  it('later messages go to another instance when the earlier ones are done', async ({ a, b }) => {
    const messages = stream(4);
    const held = await a.call(lane.stores(...messages), lane.room(2));
    await a.call(lane.completes(held), lane.room(0));
    expect(ids(await b.call({ p_takeover_seconds: 0 }))).toEqual(ids(messages.slice(2)));
  });

  it('later messages wait while an earlier one is scheduled for a retry', async ({ a, b }) => {
    const held = await a.call(lane.stores(...stream(3)), lane.room(1));
    await a.call(lane.fails(held, { retry_after_seconds: 60 }), lane.room(0));
    expect(await a.call()).toEqual([]);
    expect(await b.call({ p_takeover_seconds: 0 })).toEqual([]);
  });

  it('messages that arrive while an earlier one of their stream is held wait for it', async ({ a, b }) => {
    const [first, second, third] = stream(3);
    if (!first || !second || !third) throw new Error('three messages');
    await a.call(lane.stores(first));
    expect(await a.call(lane.stores(second))).toEqual([]);
    expect(await b.call(lane.stores(third))).toEqual([]);
    expect(ids(await a.call(lane.completes([first]), { p_takeover_seconds: 0 }))).toEqual(
      ids([second, third]),
    );
  });

  it('a message stored with room does not overtake an earlier one that waits', async ({ a, b }) => {
    const [first, second] = stream(2);
    if (!first || !second) throw new Error('two messages');
    await a.call(lane.stores(first), lane.room(0));
    expect(ids(await b.call(lane.stores(second), { p_takeover_seconds: 0 }))).toEqual(ids([first, second]));
  });
});

describe.each(lanes)('The order of a stream in the %s', (lane) => {
  it('messages of a stream are handed out in the order of the array that stored them', async ({ a }) => {
    const messages = stream(200);
    const work = await a.call(lane.stores(...messages));
    expect(ids(work)).toEqual(ids(messages));
    const orders = work.map(({ sequence_order }) => sequence_order);
    expect(orders).toEqual([...orders].sort((x, y) => x - y));
  });

  it('messages of a stream are handed out in the order of the calls that stored them', async ({ a }) => {
    const messages = stream(20);
    for (const each of messages) await a.call(lane.stores(each), lane.room(0));
    expect(ids(await a.call())).toEqual(ids(messages));
  });

  it('messages of a stream are handed out by sequence_order, whatever the time columns say', async ({
    db,
    a,
  }) => {
    const messages = stream(5);
    await a.call(lane.stores(...messages), lane.room(0));
    await db.pool.query(
      `update ${lane.table} set ${lane.storedAt} = now() - sequence_order * interval '1 hour'`,
    );
    expect(ids(await a.call())).toEqual(ids(messages));
  });

  it('a blocked stream does not hold up another stream', async ({ db, a, b }) => {
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

  it('a stream held in one lane does not hold up the same stream in the other', async ({ a, b }) => {
    const stream_id = crypto.randomUUID();
    const other = lanes.find((each) => each !== lane) ?? lane;
    await a.call(lane.stores(message({ stream_id })));
    expect(await b.call(other.stores(message({ stream_id })))).toHaveLength(1);
  });
});

describe.each(lanes)('Messages without a stream in the %s', (lane) => {
  it('a message without a stream does not wait for others without a stream', async ({ a, b }) => {
    await a.call(lane.stores(message(), message()));
    expect(await b.call(lane.stores(message()))).toHaveLength(1);
  });

  it('a message without a stream has a stream_id of null and a partition', async ({ a }) => {
    const [item] = await a.call(lane.stores(message()));
    expect(item).toMatchObject({ stream_id: null, partition_number: expect.any(Number) });
  });

  it('a message without a stream is handed out again when its lease has ended', async ({ db, a, b }) => {
    const alone = message();
    await a.call(lane.stores(alone));
    await expireLeases(db, a);
    expect(ids(await b.call())).toEqual([alone.message_id]);
  });

  it('a message without a stream is retried when its time has come', async ({ db, a, b }) => {
    const alone = message();
    await a.call(lane.fails(await a.call(lane.stores(alone)), { retry_after_seconds: 60 }));
    expect(await a.call()).toEqual([]);
    await reachSchedule(db);
    expect(ids(await b.call({ p_takeover_seconds: 0 }))).toEqual([alone.message_id]);
  });

  it('another instance may take over waiting messages without a stream', async ({ db, a, b }) => {
    await a.call();
    const several = Array.from({ length: 10 }, () => message());
    await lane.insertPlain(db.pool, ...several);
    expect(await b.call({ p_takeover_seconds: 0 })).toHaveLength(10);
  });
});

describe.each(lanes)('The all-zero stream in the %s', (lane) => {
  it('the all-zero stream is a stream like any other', async ({ a, b }) => {
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
