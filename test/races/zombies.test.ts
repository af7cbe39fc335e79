// An instance that stalled, lost its lease, and wakes up: before, during and after somebody else takes its work over.
import { describe, expect } from 'vitest';
import { waitUntilBlocked } from '../support/sessions.js';
import {
  expireLeases,
  Flags,
  ids,
  it,
  type Lane,
  lanes,
  type NewMessage,
  stream,
  type WorkRow,
} from '../support/work.js';
import { begin, noRoom, takeover } from './transactions.js';

const reports = {
  completion: (lane: Lane, messages: NewMessage[]) => lane.completes(messages),
  failure: (lane: Lane, messages: NewMessage[]) => lane.fails(messages, { retry_after_seconds: 60 }),
  'dead letter': (lane: Lane, messages: NewMessage[]) => lane.fails(messages, { dead_letter: true }),
  release: (lane: Lane, messages: NewMessage[]) => lane.releases(messages),
  renewal: (lane: Lane, messages: NewMessage[]) => lane.renews(messages),
};

const lost = (rows: WorkRow[]) => ids(rows.filter(({ flags }) => (flags & Flags.LeaseLost) !== 0)).sort();
const cases = lanes.flatMap((lane) =>
  (Object.keys(reports) as (keyof typeof reports)[]).map((report) => ({ lane, report, source: lane.source })),
);

describe.each(cases)('a late $report of the $source', ({ lane, report }) => {
  it(`a late ${report} is accepted while nobody has taken over`, async ({ db, a, b }) => {
    const messages = stream(2);
    await a.call(lane.stores(...messages));
    await expireLeases(db, a);
    expect(lost(await a.call(reports[report](lane, messages), noRoom))).toEqual([]);
    const left = await b.call(takeover);
    expect(ids(left)).toEqual(report === 'release' ? ids(messages) : []);
  });

  it(`a late ${report} waits for an open takeover, and is refused when that commits`, async ({
    db,
    a,
    b,
  }) => {
    const messages = stream(2);
    await a.call(lane.stores(...messages));
    await expireLeases(db, a);
    const taker = await begin(db);
    expect(ids(await b.over(taker.client).call())).toEqual(ids(messages));
    const zombie = await begin(db);
    const reporting = a.over(zombie.client).call(reports[report](lane, messages), noRoom);
    expect(await waitUntilBlocked(db, zombie.pid)).toEqual([taker.pid]);
    await taker.query('commit');
    expect(lost(await reporting)).toEqual(ids(messages).sort());
    await zombie.query('commit');
    expect(await b.call(lane.completes(messages), noRoom)).toEqual([]);
    expect(await lane.rows(db)).toEqual([]);
    expect((await db.pool.query('select from wh_dead_letters')).rowCount).toBe(0);
  });

  it(`a late ${report} is accepted when the takeover is rolled back`, async ({ db, a, b }) => {
    const messages = stream(2);
    await a.call(lane.stores(...messages));
    await expireLeases(db, a);
    const taker = await begin(db);
    await b.over(taker.client).call();
    const zombie = await begin(db);
    const reporting = a.over(zombie.client).call(reports[report](lane, messages), noRoom);
    await waitUntilBlocked(db, zombie.pid);
    await taker.query('rollback');
    expect(lost(await reporting)).toEqual([]);
    await zombie.query('commit');
  });

  it(`a late ${report} after a takeover is refused and changes nothing`, async ({ db, a, b }) => {
    const messages = stream(2);
    await a.call(lane.stores(...messages));
    await expireLeases(db, a);
    await b.call();
    const before = await lane.rows(db);
    expect(lost(await a.call(reports[report](lane, messages)))).toEqual(ids(messages).sort());
    expect(await lane.rows(db)).toEqual(before);
  });

  it(`a late ${report} keeps a takeover out while it is uncommitted`, async ({ db, a, b }) => {
    const messages = stream(2);
    await a.call(lane.stores(...messages));
    await expireLeases(db, a);
    await b.call(noRoom);
    const zombie = await begin(db);
    expect(lost(await a.over(zombie.client).call(reports[report](lane, messages), noRoom))).toEqual([]);
    expect(await b.call(takeover)).toEqual([]);
    await zombie.query('rollback');
    expect(ids(await b.call(takeover))).toEqual(ids(messages));
  });

  it(`a late ${report} of a deregistered instance is refused`, async ({ db, a, b }) => {
    const messages = stream(2);
    await a.call(lane.stores(...messages));
    await db.pool.query('select deregister_instance($1)', [a.id]);
    expect(lost(await a.call(reports[report](lane, messages), noRoom))).toEqual(ids(messages).sort());
    expect(ids(await b.call(takeover))).toEqual(ids(messages));
  });
});
