// The days of the history while the clock of PostgreSQL passes midnight, and when it is set back.
import { describe, expect, it } from 'vitest';
import { migrate } from '../../src/migrate/index.js';
import { openTestDatabase, type TestDatabase } from '../support/database.js';
import { clockCanBeStepped, orWhyNot, startSteppingServer } from '../support/stepping-clock.js';
import { type Instance, inbox, instance, message } from '../support/work.js';

const daySeconds = 86_400;

/** Finishes a message, and returns the day of the database then, and the table that has its row. */
async function finish(db: TestDatabase, a: Instance): Promise<{ day: string; part: string }> {
  const sent = message();
  await a.call(inbox.stores(sent));
  await a.call(inbox.completes([sent]), { p_flags: 100 << 16 });
  const { rows } = await db.pool.query(
    `select to_char(finished_at at time zone 'utc', 'YYYYMMDD') as day, tableoid::regclass::text as part
     from wh_history where message_id = $1`,
    [sent.message_id],
  );
  expect(rows).toHaveLength(1);
  return rows[0];
}

const keep = async (db: TestDatabase, days: number) =>
  (await db.pool.query('select wh_keep_history($1) as done', [days])).rows[0].done as object;

/** How far the clock has to go for the database to be so many seconds behind the next midnight of UTC. */
const afterMidnight = (seconds: number) => {
  const now = Date.now() / 1000;
  return Math.ceil(now / daySeconds) * daySeconds + seconds - now;
};

describe.skipIf(!clockCanBeStepped)(`The history while the clock moves${orWhyNot}`, () => {
  it('a message finished before midnight and one after it are in their days, whoever kept them when', async () => {
    await using server = await startSteppingServer();
    const { connectionString } = server;
    await migrate({ connectionString });
    await using db = openTestDatabase('', connectionString, async () => {});
    const a = instance(db, 'a');
    await server.step(Math.round(afterMidnight(-600)));
    await keep(db, 7);
    const before = await finish(db, a);
    await server.step(Math.round(afterMidnight(600)));
    const after = await finish(db, a); // nobody has kept it since
    expect([before.part, after.part]).toEqual([`wh_history_${before.day}`, `wh_history_${after.day}`]);
    expect(after.day).not.toBe(before.day);
    expect(await keep(db, 7)).toEqual({ made: 1, dropped: 0 });
  });

  it('a clock that is set back by days costs no message, and no row that is younger than the days', async () => {
    await using server = await startSteppingServer();
    const { connectionString } = server;
    await migrate({ connectionString });
    await using db = openTestDatabase('', connectionString, async () => {});
    const a = instance(db, 'a');
    await keep(db, 2);
    const today = await finish(db, a);
    await server.step(-3 * daySeconds);
    const back = await finish(db, a); // there is no table for that day
    expect(back.part).toBe('wh_history_rest');
    // Its day has rows in the rest, so the other days are made, and what lies ahead is not taken for old.
    expect(await keep(db, 2)).toEqual({ made: 2, dropped: 0 });
    await server.step(0);
    expect(await finish(db, a)).toEqual(today);
    await server.step(daySeconds);
    await keep(db, 2);
    const { rows } = await db.pool.query('select tableoid::regclass::text as part from wh_history');
    expect(rows).toEqual([{ part: today.part }, { part: today.part }]);
    expect(await finish(db, a)).not.toEqual(today);
  });
});
