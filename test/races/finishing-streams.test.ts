// A message that comes into a stream while somebody finishes the stream. Whoever commits first: it is never stranded.
import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import {
  type Instance,
  ids,
  it,
  type Lane,
  lanes,
  type NewMessage,
  type Parameters,
  stream,
} from '../support/work.js';
import { begin, impatient, noRoom, takeover } from './transactions.js';

/** The ways in which a message comes into a stream. */
const arrivals: Record<
  string,
  (lane: Lane, by: Instance, db: TestDatabase, message: NewMessage) => Promise<unknown>
> = {
  'plainly inserted': (lane, _by, db, message) => lane.insertPlain(db.pool, message),
  'stored by another instance': async (lane, by, db, message) =>
    by.over(await impatient(db)).call(lane.stores(message)),
  'stored without room': async (lane, by, db, message) =>
    by.over(await impatient(db)).call(lane.stores(message), noRoom),
};

/** How the finisher's report leaves its first message: gone, or to be handed out again before the second. */
const outcomes: Record<
  string,
  { report: (lane: Lane, message: NewMessage) => Parameters; survives: boolean }
> = {
  completed: { report: (lane, message) => lane.completes([message]), survives: false },
  'given up': { report: (lane, message) => lane.fails([message], { dead_letter: true }), survives: false },
  released: { report: (lane, message) => lane.releases([message]), survives: true },
  'failed with a retry that is due': {
    report: (lane, message) => lane.fails([message], { retry_after_seconds: -1 }),
    survives: true,
  },
};

const cases = lanes.flatMap((lane) =>
  Object.keys(arrivals).flatMap((arrival) =>
    Object.keys(outcomes).map((outcome) => ({ lane, arrival, outcome, source: lane.source })),
  ),
);

describe.each(cases)(
  'a message $arrival into the $source while its stream is $outcome',
  ({ lane, arrival, outcome }) => {
    const arrive = arrivals[arrival] as (typeof arrivals)[string];
    const { report, survives } = outcomes[outcome] as (typeof outcomes)[string];

    it(`a message ${arrival} while its stream is ${outcome} is handed out when that commits`, async ({
      db,
      a,
      b,
      c,
    }) => {
      const [first, second] = stream(2) as [NewMessage, NewMessage];
      await a.call(lane.stores(first));
      await b.call();
      const finisher = await begin(db);
      await a.over(finisher.client).call(report(lane, first), noRoom);
      await arrive(lane, b, db, second);
      await finisher.query('commit');
      const expected = survives ? [first, second] : [second];
      expect(ids(await c.call(takeover))).toEqual(ids(expected));
      await c.call(lane.completes(expected));
      expect((await db.pool.query('select from wh_active_streams')).rowCount).toBe(0);
    });

    it(`a message ${arrival} while its stream is ${outcome} waits its turn when that rolls back`, async ({
      db,
      a,
      b,
      c,
    }) => {
      const [first, second] = stream(2) as [NewMessage, NewMessage];
      await a.call(lane.stores(first));
      await b.call();
      const finisher = await begin(db);
      await a.over(finisher.client).call(report(lane, first), noRoom);
      await arrive(lane, b, db, second);
      await finisher.query('rollback');
      expect(await c.call(takeover)).toEqual([]);
      await a.call(lane.completes([first]), noRoom);
      expect(ids(await c.call(takeover))).toEqual(ids([second]));
    });
  },
);

describe.each(lanes)('Late commits around the end of a stream of the $source', (lane) => {
  it('a message inserted before its stream ends is handed out when it commits after that', async ({
    db,
    a,
    b,
  }) => {
    const [first, second] = stream(2) as [NewMessage, NewMessage];
    await a.call(lane.stores(first));
    const writer = await begin(db);
    await lane.insertPlain(writer.client, second);
    await a.call(lane.completes([first]), noRoom);
    await writer.query('commit');
    expect(ids(await b.call(takeover))).toEqual(ids([second]));
  });

  describe.each([
    { how: 'an open call', part: {} },
    { how: 'an open call without room', part: noRoom },
  ])('stored by $how', ({ part }) => {
    it('a message stored by an open call is handed out though its stream ended before the commit', async ({
      db,
      a,
      b,
      c,
    }) => {
      const [first, second] = stream(2) as [NewMessage, NewMessage];
      await a.call(lane.stores(first));
      await b.call();
      const writer = await begin(db);
      await b.over(writer.client).call(lane.stores(second), part);
      await a.over(await impatient(db)).call(lane.completes([first]), noRoom);
      expect(await c.over(await impatient(db)).call(takeover)).toEqual([]);
      await writer.query('commit');
      expect(ids(await c.call(takeover))).toEqual(ids([second]));
      await c.call(lane.completes([second]));
      expect((await db.pool.query('select from wh_active_streams')).rowCount).toBe(0);
    });

    it('an open call that rolls back after its stream ended leaves nothing behind', async ({
      db,
      a,
      b,
      c,
    }) => {
      const [first, second, third] = stream(3) as [NewMessage, NewMessage, NewMessage];
      await a.call(lane.stores(first));
      await b.call();
      const writer = await begin(db);
      await b.over(writer.client).call(lane.stores(second), part);
      await a.over(await impatient(db)).call(lane.completes([first]), noRoom);
      await writer.query('rollback');
      expect(await c.call(takeover)).toEqual([]);
      expect((await db.pool.query('select from wh_active_streams')).rowCount).toBe(0);
      expect(ids(await c.call(lane.stores(third)))).toEqual(ids([third]));
    });
  });

  it('a stream goes on when an open call that stored into it rolls back', async ({ db, a, b, c }) => {
    const [first, second, third] = stream(3) as [NewMessage, NewMessage, NewMessage];
    await b.call();
    const writer = await begin(db);
    await b.over(writer.client).call(lane.stores(first));
    await lane.insertPlain(db.pool, second);
    await writer.query('rollback');
    expect(ids(await a.call(lane.stores(third), takeover))).toEqual(ids([second, third]));
    expect(await c.call(takeover)).toEqual([]);
  });
});
