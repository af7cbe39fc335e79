// What streams wait for, as the views tell it: a handler that nobody has, a limit, a pause, or nothing but the next call.
import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { inbox, it, message, silence } from '../support/work.js';

const rowsOf = async (db: TestDatabase, query: string) => (await db.pool.query(query)).rows;
const laneOf = async (db: TestDatabase, lane: string) =>
  (await db.pool.query('select * from wh_lane_status where lane = $1', [lane])).rows[0];

describe('The view wh_waiting_handlers', () => {
  it('the views tell a handler that nobody has from a limit, a pause and what runs soon', async ({
    db,
    a,
  }) => {
    for (const handler_name of ['bill', 'mail', 'mail', 'pay', 'pay', 'ship']) {
      await inbox.insertPlain(db.pool, { ...message(), handler_name } as never);
    }
    await db.pool.query(`select wh_pause('type', 'ship')`);
    await a.call({ p_inbox_handlers: ['other'] });
    await db.pool.query(
      `update wh_active_streams set waits_for = 'pay' || chr(31) || 'ada' where stream_id = (
         select stream_id from wh_active_streams where waits_for = 'pay' order by 1 limit 1)`,
    );
    await silence(db, a, 1);
    // What an instance has, and not what it has room for at the moment.
    await a.call({ p_inbox_handlers: ['bill', 'ship'], p_inbox_limits: { pay: 0 } }, inbox.room(1));
    await db.pool.query(
      `update wh_active_streams set waits_for = 'bill', instance_id = null where waits_for is null`,
    );
    const waiting = () => rowsOf(db, 'select handler, streams, state from wh_waiting_handlers order by 1');
    expect(await waiting()).toEqual([
      { handler: 'bill', streams: '1', state: 'due' },
      { handler: 'mail', streams: '2', state: 'no-handler' },
      { handler: 'pay', streams: '2', state: 'limited' },
      { handler: 'ship', streams: '1', state: 'paused' },
    ]);
    expect(await laneOf(db, 'inbox')).toMatchObject({
      due_streams: '1',
      unhandled_streams: '2',
      limited_streams: '2',
      paused_streams: '1',
    });
    expect(
      await rowsOf(db, 'select state, count(*)::int as streams from wh_stream_status group by 1 order by 1'),
    ).toEqual([
      { state: 'due', streams: 1 },
      { state: 'limited', streams: 2 },
      { state: 'no-handler', streams: 2 },
      { state: 'paused', streams: 1 },
    ]);
    expect(
      await rowsOf(
        db,
        'select reason, count(*)::int as streams from wh_blocked_streams group by 1 order by 1',
      ),
    ).toEqual([
      { reason: 'limited', streams: 2 },
      { reason: 'no-handler', streams: 2 },
      { reason: 'paused', streams: 1 },
    ]);
    // Nobody is left who could say whether it has a handler.
    await silence(db, a, 700);
    expect((await waiting()).map(({ state }) => state)).toEqual(['due', 'due', 'due', 'paused']);
  });
});
