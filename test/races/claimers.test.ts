// Two who want the same stream at the same time. One gets it, the other does not wait.
import { describe, expect } from 'vitest';
import {
  expireLeases,
  Instance,
  ids,
  it,
  lanes,
  type NewMessage,
  stream,
  type WorkRow,
} from '../support/work.js';
import { begin, impatient, noRoom, takeover } from './transactions.js';

describe.each(lanes)('Claimers of one stream of the $source', (lane) => {
  const admitted = async (by: Instance, messages: NewMessage[]) => {
    const items = await by.call(lane.stores(...messages));
    await by.call(lane.releases(items), noRoom);
  };

  it('a second claimer gets nothing of a stream before and after the first commits', async ({ db, a, b }) => {
    const messages = stream(3);
    await admitted(a, messages);
    await b.call(noRoom);
    const first = await begin(db);
    expect(ids(await a.over(first.client).call(takeover))).toEqual(ids(messages));
    const second = b.over(await impatient(db));
    expect(await second.call(takeover)).toEqual([]);
    await first.query('commit');
    expect(await second.call(takeover)).toEqual([]);
  });

  it('a second claimer gets the stream when the first rolls back', async ({ db, a, b }) => {
    const messages = stream(3);
    await admitted(a, messages);
    await b.call(noRoom);
    const first = await begin(db);
    await a.over(first.client).call(takeover);
    const second = b.over(await impatient(db));
    expect(await second.call(takeover)).toEqual([]);
    await first.query('rollback');
    expect(ids(await second.call(takeover))).toEqual(ids(messages));
  });

  it('one of two claimers takes over a stream whose lease has ended', async ({ db, a, b, c }) => {
    const messages = stream(3);
    await a.call(lane.stores(...messages));
    await expireLeases(db, a);
    await c.call(noRoom);
    const first = await begin(db);
    expect(ids(await b.over(first.client).call())).toEqual(ids(messages));
    const second = c.over(await impatient(db));
    expect(await second.call()).toEqual([]);
    await first.query('commit');
    expect(await second.call()).toEqual([]);
  });

  it('the rest of a stream that is claimed in part goes to nobody else until that is completed', async ({
    db,
    a,
    b,
  }) => {
    const messages = stream(4);
    await admitted(a, messages);
    await b.call(noRoom);
    const first = await begin(db);
    expect(ids(await a.over(first.client).call(lane.room(2), takeover))).toEqual(ids(messages.slice(0, 2)));
    await first.query('commit');
    expect(await b.call(takeover)).toEqual([]);
    await a.call(lane.completes(messages.slice(0, 2)), noRoom);
    expect(ids(await b.call(takeover))).toEqual(ids(messages.slice(2)));
  });

  it('sixteen claimers at once get each message once and each stream in order', async ({ db, a }) => {
    const messages = Array.from({ length: 20 }, () => stream(3)).flat();
    await admitted(a, messages);
    const claimers = Array.from(
      { length: 16 },
      (_, i) => new Instance(`0190bbbb-0000-7000-8000-0000000000${10 + i}`, db.pool),
    );
    const handedOut: WorkRow[] = [];
    const work = async (by: Instance) => {
      let items = await by.call(takeover, lane.room(7));
      for (let calls = 0; calls < 100 && handedOut.length < messages.length; calls++) {
        handedOut.push(...items);
        items = await by.call(lane.completes(items), takeover, lane.room(7));
      }
    };
    await Promise.all(claimers.map(work));
    expect(handedOut).toHaveLength(messages.length);
    for (const stream_id of new Set(messages.map((each) => each.stream_id))) {
      const sent = messages.filter((each) => each.stream_id === stream_id);
      expect(ids(handedOut.filter((each) => each.stream_id === stream_id))).toEqual(ids(sent));
    }
  });
});
