// Operators meet calls that are under way: they wait for them, and what comes first holds.
import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { openSession, waitUntilBlocked } from '../support/sessions.js';
import { Flags, ids, inbox, it, type Lane, lanes, stream } from '../support/work.js';
import { begin, impatient, takeover } from './transactions.js';

/** Asks in a session of its own, and returns once it waits for a lock. */
async function asksMeanwhile(db: TestDatabase, call: string, ...values: unknown[]) {
  const { client, pid } = await openSession(db);
  const answer = client
    .query(`select ${call} as answer`, values)
    .then(({ rows }) => rows[0].answer as unknown);
  await waitUntilBlocked(db, pid);
  const answered = async () => {
    const value = await answer;
    await client.end();
    return value;
  };
  return { answer: answered() };
}

const streamOf = (items: readonly { stream_id?: string | null }[]) => items[0]?.stream_id;
const isEmpty = async (db: TestDatabase, lane: Lane) => {
  expect(await lane.rows(db)).toEqual([]);
  const { rows } = await db.pool.query('select * from wh_active_streams where lane = $1', [lane.source]);
  expect(rows).toEqual([]);
};

describe.each(lanes)('Operators and calls that meet in the %s', (lane) => {
  it('a release waits for the holder that completes, and finds nothing to release', async ({ db, a }) => {
    const items = await a.call(lane.stores(...stream(2)));
    const holder = await begin(db);
    await a.over(holder).call(lane.completes(items), lane.room(0));
    const release = await asksMeanwhile(db, 'wh_release_stream($1)', streamOf(items));
    await holder.query('commit');
    expect(await release.answer).toBe(false);
    await isEmpty(db, lane);
  });

  it('a release waits for the holder that completes a part, and takes the rest from it', async ({
    db,
    a,
    b,
  }) => {
    const items = await a.call(lane.stores(...stream(3)));
    const holder = await begin(db);
    await a.over(holder).call(lane.completes(items.slice(0, 1)), lane.room(0));
    const release = await asksMeanwhile(db, 'wh_release_stream($1)', streamOf(items));
    await holder.query('commit');
    expect(await release.answer).toBe(true);
    const rest = items.slice(1);
    const refused = await a.call(lane.completes(rest), lane.room(0));
    expect(refused.map(({ flags }) => flags)).toEqual([Flags.LeaseLost, Flags.LeaseLost]);
    expect(ids(await b.call(takeover))).toEqual(ids(rest));
  });

  it('a completion waits for a release that is under way, and is refused', async ({ db, a, b }) => {
    const items = await a.call(lane.stores(...stream(2)));
    const operator = await begin(db);
    await operator.query('select wh_release_stream($1)', [streamOf(items)]);
    const { client, pid } = await openSession(db);
    const report = a.over(client).call(lane.completes(items), lane.room(0));
    await waitUntilBlocked(db, pid);
    await operator.query('commit');
    expect((await report).map(({ flags }) => flags)).toEqual([Flags.LeaseLost, Flags.LeaseLost]);
    await client.end();
    expect(ids(await b.call(takeover))).toEqual(ids(items));
  });

  it('a message that is completed while it is given up is complete, and no dead letter', async ({
    db,
    a,
  }) => {
    const items = await a.call(lane.stores(...stream(1)));
    const holder = await begin(db);
    await a.over(holder).call(lane.completes(items), lane.room(0));
    const giving = await asksMeanwhile(db, 'wh_give_up($1)', items[0]?.message_id);
    await holder.query('commit');
    expect(await giving.answer).toBe(false);
    expect((await db.pool.query('select from wh_dead_letters')).rowCount).toBe(0);
    await isEmpty(db, lane);
  });

  it('a pause waits for the claim of its stream, whose messages are finished, and holds behind them', async ({
    db,
    a,
  }) => {
    const all = stream(3);
    await lane.insertPlain(db.pool, ...all);
    const claim = await begin(db);
    const items = await a.over(claim).call(lane.room(2));
    expect(items).toHaveLength(2);
    const pausing = await asksMeanwhile(db, `wh_pause('stream', $1)`, streamOf(all));
    await claim.query('commit');
    expect(await pausing.answer).toBe(true);
    expect(await a.call(lane.completes(items))).toEqual([]);
    expect(await a.call(takeover)).toEqual([]);
    await db.pool.query(`select wh_resume('stream', $1)`, [streamOf(all)]);
    expect(ids(await a.call(takeover))).toEqual([all[2]?.message_id]);
  });

  it('a claim passes by a stream that is being paused, and does not wait', async ({ db, a }) => {
    const items = await a.call(lane.stores(...stream(2)));
    await a.call(lane.releases(items), lane.room(0));
    const operator = await begin(db);
    await operator.query(`select wh_pause('stream', $1)`, [streamOf(items)]);
    const other = stream(1);
    await lane.insertPlain(db.pool, ...other);
    expect(ids(await a.over(await impatient(db)).call())).toEqual(ids(other));
    await operator.query('commit');
    expect(await a.call()).toEqual([]);
  });

  it('a pause that is undone leaves the stream as it was', async ({ db, a }) => {
    const all = stream(2);
    await lane.insertPlain(db.pool, ...all);
    const operator = await begin(db);
    await operator.query(`select wh_pause('stream', $1)`, [streamOf(all)]);
    await operator.query('rollback');
    expect(ids(await a.call())).toEqual(ids(all));
  });
});

describe('Operators who meet each other', () => {
  it('a type that two operators pause at once is paused once', async ({ db }) => {
    const first = await begin(db);
    await first.query(`select wh_pause('type', 'a')`);
    const second = await asksMeanwhile(db, `wh_pause('type', 'a')`);
    await first.query('commit');
    expect(await second.answer).toBe(false);
  });

  it('two types that two operators pause at once are both paused', async ({ db }) => {
    const first = await begin(db);
    await first.query(`select wh_pause('type', 'a')`);
    const second = await asksMeanwhile(db, `wh_pause('type', 'b')`);
    await first.query('commit');
    expect(await second.answer).toBe(true);
    const { rows } = await db.pool.query(`select paused from wh_lanes where lane = 'inbox'`);
    expect(rows).toEqual([{ paused: ['a', 'b'] }]);
  });

  it('a call that began before a type was resumed strands none of its streams', async ({ db, a, b }) => {
    const handles = { p_inbox_handlers: ['orders'] };
    await db.pool.query(`select wh_pause('type', 'orders')`);
    const all = stream(2);
    await inbox.insertPlain(db.pool, ...all);
    // The call does not move the floors: for that row a resume would wait.
    await db.pool.query(`update wh_lanes set moved_at = clock_timestamp() + interval '1 hour'`);
    const call = await begin(db);
    expect(await a.over(call).call(handles)).toEqual([]);
    await db.pool.query(`select wh_resume('type', 'orders')`);
    await call.query('commit');
    expect(ids(await b.call(handles, takeover))).toEqual(ids(all));
  });
});
