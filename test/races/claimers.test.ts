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

describe.each(lanes)('two claimers of one stream of the $source', (lane) => {
  const admitted = async (by: Instance, messages: NewMessage[]) => {
    const items = await by.call(lane.stores(...messages));
    await by.call(lane.releases(items), noRoom);
  };

  it('the second gets nothing while the first has not committed, and nothing after', async ({ db, a, b }) => {
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

  it('the second gets it when the first rolls back', async ({ db, a, b }) => {
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

  it('an expired lease is taken over once', async ({ db, a, b, c }) => {
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

  it('part of a stream is held by one, the rest by nobody else', async ({ db, a, b }) => {
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

  it('sixteen at once share the streams: each message once, in order, one holder at a time', async ({
    db,
    a,
  }) => {
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
