// The decision matrix of scheduled retries, row by row, and what a failure leaves behind.
import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import {
  Flags,
  type Instance,
  ids,
  it,
  type Lane,
  lanes,
  message,
  reachSchedule,
  Status,
  stream,
} from '../support/work.js';

/** Three of a stream handed out; the first fails, the others go back. */
async function failFirst(lane: Lane, a: Instance, failure: Parameters<Lane['fails']>[1]) {
  const work = await a.call(lane.stores(...stream(3)));
  const answer = await a.call(lane.fails(work.slice(0, 1), failure), lane.releases(work.slice(1)));
  return { work, answer };
}

/** The only message's delay in seconds, at least and at most: its call was made between two looks at the clock. */
async function delayAfter(db: TestDatabase, lane: Lane, call: () => Promise<unknown>) {
  const clock = async () => (await db.pool.query('select clock_timestamp()::text as now')).rows[0].now;
  const before = await clock();
  await call();
  const { rows } = await db.pool.query<{ least: number; most: number }>(
    `select extract(epoch from scheduled_for - $2)::float8 as least,
            extract(epoch from scheduled_for - $1)::float8 as most from ${lane.table}`,
    [before, await clock()],
  );
  return rows[0] ?? { least: Number.NaN, most: Number.NaN };
}

describe.each(lanes)('Failures and retries in the %s', (lane) => {
  it('a failure with a delay blocks the later messages of its stream', async ({ a, b }) => {
    const { answer } = await failFirst(lane, a, { retry_after_seconds: 60 });
    expect(answer).toEqual([]);
    expect(await a.call()).toEqual([]);
    expect(await b.call({ p_takeover_seconds: 0 })).toEqual([]);
  });

  it('a failed message is handed out first in its stream when the delay is over', async ({ db, a }) => {
    const { work } = await failFirst(lane, a, { retry_after_seconds: 60 });
    await reachSchedule(db);
    expect(ids(await a.call())).toEqual(ids(work));
  });

  it.for([0, -60])('a failure with a delay of %d seconds blocks nothing', async (seconds, { a }) => {
    const { work } = await failFirst(lane, a, { retry_after_seconds: seconds });
    expect(ids(await a.call())).toEqual(ids(work));
  });

  it('a failed message is not handed out by the call that reports it, even without a delay', async ({
    a,
  }) => {
    const { answer } = await failFirst(lane, a, { retry_after_seconds: 0 });
    expect(answer).toEqual([]);
  });

  it('a failed message waits while another message of its stream is held', async ({ a, b }) => {
    const work = await a.call(lane.stores(...stream(3)));
    await a.call(lane.fails(work.slice(0, 1), { retry_after_seconds: 0 }), lane.room(0));
    expect(await a.call()).toEqual([]);
    expect(await b.call({ p_takeover_seconds: 0 })).toEqual([]);
    await a.call(lane.completes(work.slice(1)), lane.room(0));
    expect(ids(await a.call({ p_takeover_seconds: 0 }))).toEqual(ids(work.slice(0, 1)));
  });

  it('a failure in the middle of a stream lets earlier messages finish and blocks later ones', async ({
    db,
    a,
  }) => {
    const work = await a.call(lane.stores(...stream(3)));
    await a.call(
      lane.completes(work.slice(0, 1)),
      lane.fails(work.slice(1, 2), { retry_after_seconds: 60 }),
      lane.releases(work.slice(2)),
    );
    expect(await a.call()).toEqual([]);
    await reachSchedule(db);
    expect(ids(await a.call())).toEqual(ids(work.slice(1)));
  });

  it('a failure counts as an attempt, keeps its error and sets the bit Failed', async ({ db, a }) => {
    const work = await a.call(lane.stores(message()));
    await a.call(lane.fails(work, { error: 'connection reset' }));
    expect(await lane.rows(db)).toMatchObject([
      {
        attempts: 1,
        error: 'connection reset',
        status: Status.Stored | Status.Failed,
        instance_id: null,
        lease_expiry: null,
        processed_at: null,
      },
    ]);
  });

  it('a failed message keeps the stages that it has completed', async ({ db, a }) => {
    const work = await a.call(lane.stores(message()));
    await a.call(lane.fails(work, { completed_status: lane.partly }));
    await reachSchedule(db);
    expect(await a.call()).toMatchObject([
      { status: Status.Stored | lane.partly | Status.Failed, attempts: 1, flags: Flags.RetryAfterFailure },
    ]);
  });

  it('a failure does not finish a message, whatever stages it completes', async ({ db, a }) => {
    const work = await a.call(lane.stores(message()));
    await a.call(lane.fails(work, { completed_status: lane.done }));
    expect(await lane.rows(db)).toMatchObject([{ attempts: 1 }]);
  });

  it('a failure accepts a delay in fractions of a second', async ({ db, a }) => {
    const work = await a.call(lane.stores(message()));
    const delay = await delayAfter(db, lane, () => a.call(lane.fails(work, { retry_after_seconds: 90.5 })));
    expect(delay.least).toBeLessThanOrEqual(90.5);
    expect(delay.most).toBeGreaterThanOrEqual(90.5);
  });

  it.for([1e9, 1e300, -1e300])(
    'a failure accepts a delay of %d seconds without overflowing',
    async (seconds, { db, a }) => {
      const work = await a.call(lane.stores(message()));
      await a.call(lane.fails(work, { retry_after_seconds: seconds }));
      expect(await lane.rows(db)).toMatchObject([{ attempts: 1, scheduled_for: expect.any(Date) }]);
    },
  );

  it.for([
    [0, 0.5, 1.5],
    [1, 1, 3],
    [4, 11, 21],
    [8, 190, 300],
    [1000, 200, 300],
    [2_000_000_000, 200, 300],
  ] as const)(
    'a failure without a delay, after %d others, is tried again in %d to %d seconds',
    async ([attempts, least, most], { db, a }) => {
      const work = await a.call(lane.stores(message()));
      await db.pool.query(`update ${lane.table} set attempts = $1`, [attempts]);
      const delay = await delayAfter(db, lane, () => a.call(lane.fails(work, { dead_letter: false })));
      expect(await lane.rows(db)).toMatchObject([{ attempts: attempts + 1 }]);
      expect(delay.most).toBeGreaterThanOrEqual(least);
      expect(delay.least).toBeLessThanOrEqual(most);
    },
  );

  it('default retry delays jitter, so that what failed together is not retried together', async ({
    db,
    a,
  }) => {
    const work = await a.call(lane.stores(...Array.from({ length: 20 }, () => message())));
    await a.call(lane.fails(work));
    const { rows } = await db.pool.query(
      `select count(distinct scheduled_for)::int as times from ${lane.table}`,
    );
    expect(rows[0].times).toBeGreaterThan(10);
  });

  it('a failure needs neither an error nor completed stages', async ({ db, a }) => {
    const [item] = await a.call(lane.stores(message()));
    await a.call({ [`p_${lane.source}_failures`]: [{ message_id: item?.message_id }] });
    expect(await lane.rows(db)).toMatchObject([{ attempts: 1, error: null }]);
  });

  it('a message failed twice in one call counts one failure, the first', async ({ db, a }) => {
    const [item] = await a.call(lane.stores(message()));
    const failure = { message_id: item?.message_id, completed_status: 0 };
    await a.call({
      [`p_${lane.source}_failures`]: [
        { ...failure, error: 'first' },
        { ...failure, error: 'second' },
      ],
    });
    expect(await lane.rows(db)).toMatchObject([{ attempts: 1, error: 'first' }]);
  });

  it('a failure reported in the wrong lane comes back as lost', async ({ a }) => {
    const other = lanes.find((each) => each !== lane) ?? lane;
    const work = await a.call(lane.stores(message()));
    expect(await a.call(other.fails(work))).toMatchObject([
      { source: other.source, message_id: work[0]?.message_id, flags: Flags.LeaseLost },
    ]);
  });
});
