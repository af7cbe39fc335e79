import { describe, expect } from 'vitest';
import { expireLeases, Flags, ids, inbox, it, lanes, outbox, stream, streams } from '../support/work.js';

describe.each(lanes)('Room in the %s', (lane) => {
  it('of zero claims nothing', async ({ db, a }) => {
    await lane.insertPlain(db.pool, ...streams(3));
    expect(await a.call(lane.room(0))).toEqual([]);
  });

  it('of zero stores what is new and leaves it unleased, open to others', async ({ db, a, b }) => {
    const messages = streams(3);
    expect(await a.call(lane.stores(...messages), lane.room(0))).toEqual([]);
    expect(await lane.rows(db)).toMatchObject(
      messages.map(() => ({ instance_id: null, lease_expiry: null })),
    );
    expect(ids(await b.call({ p_takeover_seconds: 0 })).sort()).toEqual(ids(messages).sort());
  });

  it('of zero still takes reports', async ({ db, a }) => {
    const work = await a.call(lane.stores(...streams(3)));
    expect(await a.call(lane.completes(work), lane.room(0))).toEqual([]);
    expect(await lane.rows(db)).toEqual([]);
  });

  it('of one hands out one', async ({ db, a }) => {
    const messages = stream(3);
    await lane.insertPlain(db.pool, ...messages);
    expect(ids(await a.call(lane.room(1)))).toEqual(ids(messages.slice(0, 1)));
  });

  it('is used up by what is newly stored first, in array order', async ({ a }) => {
    const messages = streams(5);
    const work = await a.call(lane.stores(...messages), lane.room(3));
    expect(ids(work)).toEqual(ids(messages.slice(0, 3)));
    expect(work.map(({ flags }) => flags)).toEqual(work.map(() => Flags.NewlyStored));
  });

  it('is not exceeded by what is newly stored in one stream, which keeps its order', async ({ a }) => {
    const messages = stream(5);
    const first = await a.call(lane.stores(...messages), lane.room(3));
    expect(ids(first)).toEqual(ids(messages.slice(0, 3)));
    expect(ids(await a.call(lane.completes(first)))).toEqual(ids(messages.slice(3)));
  });

  it('that is left after the newly stored is filled with what was waiting', async ({ db, a }) => {
    const [waiting, fresh] = [streams(5), streams(2)];
    await lane.insertPlain(db.pool, ...waiting);
    const work = await a.call(lane.stores(...fresh), lane.room(4));
    expect(work).toHaveLength(4);
    expect(work.filter(({ flags }) => flags === Flags.NewlyStored)).toHaveLength(2);
  });

  it('that the newly stored did not fit into hands it out later, no longer as new', async ({ a }) => {
    const messages = streams(5);
    const first = await a.call(lane.stores(...messages), lane.room(3));
    const second = await a.call();
    expect(ids([...first, ...second]).sort()).toEqual(ids(messages).sort());
    expect(second.map(({ flags }) => flags)).toEqual([Flags.None, Flags.None]);
  });

  it.for([1, 2, 3, 7, 10, 50])('of %d is never exceeded, and everything comes', async (room, { db, a }) => {
    const messages = [...stream(40), ...stream(10), ...streams(20)];
    await lane.insertPlain(db.pool, ...messages.slice(0, 30));
    const seen: string[] = [];
    let work = await a.call(lane.stores(...messages.slice(30)), lane.room(room));
    for (let calls = 0; seen.length < messages.length; calls++) {
      expect(work.length).toBeLessThanOrEqual(room);
      expect(calls).toBeLessThan(messages.length * 2);
      seen.push(...ids(work));
      work = await a.call(lane.completes(work), lane.room(room));
    }
    expect(seen.sort()).toEqual(ids(messages).sort());
  });

  it('is shared by orphaned and waiting work', async ({ db, a, b }) => {
    await a.call(lane.stores(...streams(4)));
    await expireLeases(db, a);
    await lane.insertPlain(db.pool, ...streams(4));
    const work = await b.call(lane.room(6), { p_takeover_seconds: 0 });
    expect(work).toHaveLength(6);
    expect(work.filter(({ flags }) => flags === Flags.Orphaned)).toHaveLength(4);
  });

  it('is shared by a deep stream and others', async ({ db, a }) => {
    const [deep, others] = [stream(50), streams(9)];
    await lane.insertPlain(db.pool, ...deep, ...others);
    const work = await a.call(lane.room(20));
    expect(ids(work)).toEqual(expect.arrayContaining(ids(others)));
    expect(ids(work)).toContain(deep[0]?.message_id);
    expect(work.length).toBeLessThanOrEqual(20);
  });

  it('goes to one deep stream whole when it is alone', async ({ db, a }) => {
    const deep = stream(100);
    await lane.insertPlain(db.pool, ...deep);
    expect(ids(await a.call(lane.room(20)))).toEqual(ids(deep.slice(0, 20)));
  });

  it('of a thousand is the default', async ({ a }) => {
    expect(await a.call(lane.stores(...streams(1100)))).toHaveLength(1000);
  });
});

describe('Room', () => {
  it('in one lane does not count for the other', async ({ a }) => {
    const work = await a.call(
      outbox.stores(...streams(5)),
      inbox.stores(...streams(5)),
      outbox.room(2),
      inbox.room(4),
    );
    expect(work.filter(({ source }) => source === 'outbox')).toHaveLength(2);
    expect(work.filter(({ source }) => source === 'inbox')).toHaveLength(4);
  });
});
