import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import {
  expireLeases,
  Flags,
  type Instance,
  ids,
  it,
  type Lane,
  lanes,
  message,
  type Parameters,
  Status,
  stream,
  type WorkRow,
} from '../support/work.js';

/** a stalls with two messages of a stream and b takes them over. */
async function stall(db: TestDatabase, lane: Lane, a: Instance, b: Instance): Promise<WorkRow[]> {
  const work = await a.call(lane.stores(...stream(2)));
  await expireLeases(db, a);
  expect(ids(await b.call())).toEqual(ids(work));
  return work;
}

const state = async (db: TestDatabase, lane: Lane) => ({
  messages: await lane.rows(db),
  streams: (await db.pool.query('select * from wh_active_streams order by stream_id, lane')).rows,
  deadLetters: (await db.pool.query('select * from wh_dead_letters')).rows,
});

const reports: [string, (lane: Lane, work: WorkRow[]) => Parameters][] = [
  ['completion', (lane, work) => lane.completes(work)],
  ['partial completion', (lane, work) => lane.completes(work, lane.partly)],
  ['release', (lane, work) => lane.releases(work)],
  ['failure', (lane, work) => lane.fails(work)],
  ['failure with a delay', (lane, work) => lane.fails(work, { retry_after_seconds: 60 })],
  ['failure for good', (lane, work) => lane.fails(work, { dead_letter: true })],
  ['renewal', (lane, work) => lane.renews(work)],
  ['completion in debug mode', (lane, work) => ({ ...lane.completes(work), p_flags: Flags.DebugMode })],
];

describe.each(lanes)('In the %s', (lane) => {
  it.for(reports)(
    'a late %s of an instance that lost its lease comes back as lost and changes nothing',
    async ([, report], { db, a, b }) => {
      const work = await stall(db, lane, a, b);
      const before = await state(db, lane);
      const answer = await a.call(report(lane, work));
      expect(ids(answer).sort()).toEqual(ids(work).sort());
      for (const { source, flags } of answer) {
        expect({ source, flags }).toEqual({ source: lane.source, flags: Flags.LeaseLost });
      }
      expect(await state(db, lane)).toEqual(before);
    },
  );

  it.for(reports)(
    'a %s of a message that waits and is held by nobody comes back as lost',
    async ([, report], { db, a }) => {
      await a.call(lane.stores(...stream(2)), lane.room(0));
      const waiting = (await lane.rows(db)) as unknown as WorkRow[];
      const answer = await a.call(report(lane, waiting), lane.room(0));
      expect(ids(answer).sort()).toEqual(ids(waiting).sort());
      expect(answer.every(({ flags }) => flags === Flags.LeaseLost)).toBe(true);
      expect(await lane.rows(db)).toEqual(waiting);
    },
  );

  it.for(reports)('a %s of a message that nobody knows comes back as lost', async ([, report], { a }) => {
    const unknown = [message() as unknown as WorkRow];
    expect(await a.call(report(lane, unknown))).toMatchObject([
      { source: lane.source, message_id: unknown[0]?.message_id, flags: Flags.LeaseLost },
    ]);
  });

  it('the new lease holder can complete a message after a late report of the old one', async ({
    db,
    a,
    b,
  }) => {
    const work = await stall(db, lane, a, b);
    await a.call(lane.completes(work));
    expect(await b.call(lane.completes(work))).toEqual([]);
    expect(await lane.rows(db)).toEqual([]);
  });

  it('a completion sent a second time comes back as lost', async ({ a }) => {
    const work = await a.call(lane.stores(message()));
    await a.call(lane.completes(work));
    expect(await a.call(lane.completes(work))).toMatchObject([
      { message_id: work[0]?.message_id, flags: Flags.LeaseLost },
    ]);
  });

  it('a report on held messages is applied in a call whose other reports are lost', async ({ db, a, b }) => {
    const lost = await stall(db, lane, a, b);
    const held = await a.call(lane.stores(...stream(2)));
    const answer = await a.call(lane.completes([...lost, ...held]));
    expect(ids(answer).sort()).toEqual(ids(lost).sort());
    expect((await lane.rows(db)).map((row) => row.message_id)).toEqual(ids(lost));
  });

  it('a completion wins over a failure and a renewal of the same message in one call', async ({ db, a }) => {
    const work = await a.call(lane.stores(message()));
    expect(await a.call(lane.completes(work), lane.fails(work), lane.renews(work))).toEqual([]);
    expect(await lane.rows(db)).toEqual([]);
  });

  it('a partial completion wins over a failure of the same message in one call', async ({ db, a }) => {
    const work = await a.call(lane.stores(message()));
    await a.call(lane.completes(work, lane.partly), lane.fails(work, { dead_letter: true }));
    expect(await lane.rows(db)).toMatchObject([{ attempts: 0, status: Status.Stored | lane.partly }]);
  });
});
