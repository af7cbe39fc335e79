import { describe, expect } from 'vitest';
import { expireLeases, Flags, ids, inbox, it, lanes, outbox, stream, streams } from '../support/work.js';

describe.each(lanes)('Room in the %s', (lane) => {
  it('a call without room claims nothing', async ({ db, a }) => {
    await lane.insertPlain(db.pool, ...streams(3));
    expect(await a.call(lane.room(0))).toEqual([]);
  });

  it('a call without room stores new messages unleased, open to other instances', async ({ db, a, b }) => {
    const messages = streams(3);
    expect(await a.call(lane.stores(...messages), lane.room(0))).toEqual([]);
    expect(await lane.rows(db)).toMatchObject(
      messages.map(() => ({ instance_id: null, lease_expiry: null })),
    );
    expect(ids(await b.call({ p_takeover_seconds: 0 })).sort()).toEqual(ids(messages).sort());
  });

  it('a call without room still accepts reports', async ({ db, a }) => {
    const work = await a.call(lane.stores(...streams(3)));
    expect(await a.call(lane.completes(work), lane.room(0))).toEqual([]);
    expect(await lane.rows(db)).toEqual([]);
  });

  it('a call with room for one hands out one message', async ({ db, a }) => {
    const messages = stream(3);
    await lane.insertPlain(db.pool, ...messages);
    expect(ids(await a.call(lane.room(1)))).toEqual(ids(messages.slice(0, 1)));
  });

  it('newly stored messages use up the room first, in array order', async ({ a }) => {
    const messages = streams(5);
    const work = await a.call(lane.stores(...messages), lane.room(3));
    expect(ids(work)).toEqual(ids(messages.slice(0, 3)));
    expect(work.map(({ flags }) => flags)).toEqual(work.map(() => Flags.NewlyStored));
  });

  it('newly stored messages of one stream do not exceed the room, and keep their order', async ({ a }) => {
    const messages = stream(5);
    const first = await a.call(lane.stores(...messages), lane.room(3));
    expect(ids(first)).toEqual(ids(messages.slice(0, 3)));
    expect(ids(await a.call(lane.completes(first)))).toEqual(ids(messages.slice(3)));
  });

  it('waiting messages fill the room that newly stored ones leave', async ({ db, a }) => {
    const [waiting, fresh] = [streams(5), streams(2)];
    await lane.insertPlain(db.pool, ...waiting);
    const work = await a.call(lane.stores(...fresh), lane.room(4));
    expect(work).toHaveLength(4);
    expect(work.filter(({ flags }) => flags === Flags.NewlyStored)).toHaveLength(2);
  });

  it('messages stored beyond the room are handed out later, no longer marked as new', async ({ a }) => {
    const messages = streams(5);
    const first = await a.call(lane.stores(...messages), lane.room(3));
    const second = await a.call();
    expect(ids([...first, ...second]).sort()).toEqual(ids(messages).sort());
    expect(second.map(({ flags }) => flags)).toEqual([Flags.None, Flags.None]);
  });

  it.for([1, 2, 3, 7, 10, 50])(
    'a room of %d is never exceeded, and every message is handed out',
    async (room, { db, a }) => {
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
    },
  );

  it('orphaned and waiting messages share the room', async ({ db, a, b }) => {
    await a.call(lane.stores(...streams(4)));
    await expireLeases(db, a);
    await lane.insertPlain(db.pool, ...streams(4));
    const work = await b.call(lane.room(6), { p_takeover_seconds: 0 });
    expect(work).toHaveLength(6);
    expect(work.filter(({ flags }) => flags === Flags.Orphaned)).toHaveLength(4);
  });

  it('a deep stream and other streams share the room', async ({ db, a }) => {
    const [deep, others] = [stream(50), streams(9)];
    await lane.insertPlain(db.pool, ...deep, ...others);
    const work = await a.call(lane.room(20));
    expect(ids(work)).toEqual(expect.arrayContaining(ids(others)));
    expect(ids(work)).toContain(deep[0]?.message_id);
    expect(work.length).toBeLessThanOrEqual(20);
  });

  it('a deep stream that is alone gets the whole room', async ({ db, a }) => {
    const deep = stream(100);
    await lane.insertPlain(db.pool, ...deep);
    expect(ids(await a.call(lane.room(20)))).toEqual(ids(deep.slice(0, 20)));
  });

  it('the default room is a thousand messages', async ({ a }) => {
    expect(await a.call(lane.stores(...streams(1100)))).toHaveLength(1000);
  });
});

it('room in one lane does not count for the other', async ({ a }) => {
  const work = await a.call(
    outbox.stores(...streams(5)),
    inbox.stores(...streams(5)),
    outbox.room(2),
    inbox.room(4),
  );
  expect(work.filter(({ source }) => source === 'outbox')).toHaveLength(2);
  expect(work.filter(({ source }) => source === 'inbox')).toHaveLength(4);
});
