// The story of a message that fails: who tried it, when, and what went wrong, up to its end as a dead letter.
import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { type Instance, it, type Lane, lanes, message, Status, type WorkRow } from '../support/work.js';

interface Failure {
  at: string;
  attempt: number;
  instance_id: string;
  error: string | null;
}

const storyOf = async (db: TestDatabase, lane: Lane) =>
  (await lane.rows(db))[0]?.failures as Failure[] | null;
const noDelay = { retry_after_seconds: -1 };

async function fail(
  lane: Lane,
  instance: Instance,
  work: WorkRow[],
  error: string | null,
): Promise<WorkRow[]> {
  await instance.call(lane.fails(work, { ...noDelay, error }), lane.room(0));
  return instance.call({ p_takeover_seconds: 0 });
}

describe.each(lanes)('Failures of messages in the %s', (lane) => {
  it('a message that has never failed has no noted failures', async ({ db, a }) => {
    const work = await a.call(lane.stores(message()));
    expect(await storyOf(db, lane)).toBeNull();
    await a.call(lane.completes(work, lane.partly), lane.renews(work), lane.room(0));
    expect(await storyOf(db, lane)).toBeNull();
  });

  it('every failure of a message is noted with attempt, time, instance and error', async ({ db, a, b }) => {
    const work = await a.call(lane.stores(message()));
    await a.call(lane.fails(work, { ...noDelay, error: 'first' }), lane.room(0));
    await fail(lane, b, await b.call({ p_takeover_seconds: 0 }), null);
    const story = await storyOf(db, lane);
    expect(story).toMatchObject([
      { attempt: 1, instance_id: a.id, error: 'first' },
      { attempt: 2, instance_id: b.id, error: null },
    ]);
    const [first, second] = (story ?? []).map(({ at }) => Date.parse(at));
    expect(first).toBeLessThanOrEqual(second ?? 0);
  });

  it('a message that fails often keeps the first failure and the last nine', async ({ db, a }) => {
    let work = await a.call(lane.stores(message()));
    for (let attempt = 1; attempt <= 14; attempt++) work = await fail(lane, a, work, `attempt ${attempt}`);
    expect((await storyOf(db, lane))?.map(({ attempt }) => attempt)).toEqual([
      1, 6, 7, 8, 9, 10, 11, 12, 13, 14,
    ]);
  });

  it('a dead letter keeps the noted failures of its message, with the last one', async ({ db, a }) => {
    const work = await fail(lane, a, await a.call(lane.stores(message())), 'first');
    await a.call(lane.fails(work, { dead_letter: true, error: 'last' }), lane.room(0));
    const { rows } = await db.pool.query('select failures from wh_dead_letters');
    expect(rows).toMatchObject([
      {
        failures: [
          { attempt: 1, error: 'first' },
          { attempt: 2, error: 'last' },
        ],
      },
    ]);
  });

  it('a failure reported by an instance that does not hold the message is not noted', async ({
    db,
    a,
    b,
  }) => {
    const work = await a.call(lane.stores(message()));
    await b.call(lane.fails(work), lane.room(0));
    expect(await storyOf(db, lane)).toBeNull();
  });
});

describe.each(lanes)('In the %s, a report of a failure that is not counted', (lane) => {
  const waits = { retry_after_seconds: -1, counted: false, error: null };

  it('a report that is not counted only sets the time of the next attempt', async ({ db, a }) => {
    const work = await fail(lane, a, await a.call(lane.stores(message())), 'first');
    const [before] = await lane.rows(db);
    await a.call(lane.fails(work, { ...waits, retry_after_seconds: 60 }), lane.room(0));
    const [after] = await lane.rows(db);
    expect(after).toEqual({
      ...before,
      instance_id: null,
      lease_expiry: null,
      scheduled_for: expect.any(Date),
    });
    expect(await a.call()).toEqual([]);
  });

  it('a report that is not counted may say what is waited for', async ({ db, a }) => {
    const work = await fail(lane, a, await a.call(lane.stores(message())), 'first');
    await a.call(lane.fails(work, { ...waits, error: 'the mailer waits' }), lane.room(0));
    expect(await lane.rows(db)).toMatchObject([{ attempts: 1, error: 'the mailer waits' }]);
    expect(await storyOf(db, lane)).toMatchObject([{ attempt: 1, error: 'first' }]);
  });

  it('a report that is not counted does not mark a message as failed that never has', async ({ db, a }) => {
    await a.call(lane.fails(await a.call(lane.stores(message())), waits), lane.room(0));
    expect(await lane.rows(db)).toMatchObject([{ attempts: 0, status: Status.Stored, failures: null }]);
  });

  it('a report that is not counted makes a dead letter with as many attempts as the message has', async ({
    db,
    a,
  }) => {
    const work = await fail(lane, a, await a.call(lane.stores(message())), 'first');
    await a.call(lane.fails(work, { dead_letter: true, counted: false, error: null }), lane.room(0));
    const { rows } = await db.pool.query('select attempts, error, failures from wh_dead_letters');
    expect(rows).toMatchObject([{ attempts: 1, error: 'first', failures: [{ attempt: 1 }] }]);
  });
});
