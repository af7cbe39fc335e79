// Random schedules of perspectives: events that come in every way, instances that take, move, lose and take over
// bookmarks, events that fail for a while. PERSPECTIVE_SCHEDULES sets how many, SEED where they begin: a schedule that
// failed is run again by its seed alone (SEED=… PERSPECTIVE_SCHEDULES=1).
import { expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { logAnnouncements } from './support/perspective-announcements.js';
import { InlineVersions, judgeBookmarks, judgeModels } from './support/perspective-judge.js';
import { PerspectiveSteps } from './support/perspective-steps.js';
import { dueNow, expire } from './support/perspective-times.js';
import { PerspectiveWorld } from './support/perspective-world.js';
import { Random } from './support/random.js';

const count = Number(process.env.PERSPECTIVE_SCHEDULES ?? 300);
const first = Number(process.env.SEED ?? 20261117);
const databases = 3;
const stepsPerSchedule = 30;

it(`${count} random schedules end with every model as its events say`, {
  timeout: 600_000 + count * 1000,
}, async () => {
  let next = first;
  const failures: string[] = [];
  const runners = Array.from({ length: Math.min(databases, count) }, async () => {
    await using db = await createTestDatabase();
    await db.pool.query(
      'create table applied (id bigint generated always as identity, event_id uuid, version int)',
    );
    await logAnnouncements(db);
    while (failures.length === 0 && next < first + count) {
      const seed = next++;
      await runSchedule(db, seed).catch((error: unknown) => {
        const { stack, actual, expected } = error as { stack?: string; actual?: unknown; expected?: unknown };
        const values = JSON.stringify({ actual, expected });
        failures.push(`SEED=${seed} PERSPECTIVE_SCHEDULES=1 fails: ${stack ?? error}\n${values}`);
      });
    }
  });
  await Promise.all(runners);
  expect(failures.join('\n')).toBe('');
});

async function runSchedule(db: TestDatabase, seed: number): Promise<void> {
  const random = new Random(seed);
  const world = new PerspectiveWorld(db, random);
  try {
    for (let i = random.below(3); i >= 0; i--) world.join(random.chance(0.3) ? 0 : 60);
    for (const perspective of random.some(world.perspectives, 0.7)) await world.register(perspective);
    const steps = new PerspectiveSteps(world);
    const versions = new InlineVersions();
    for (let i = 0; i < stepsPerSchedule; i++) {
      await steps.one();
      if (world.registered.some(({ name }) => name === 'inline')) await versions.judge(db);
    }
    await judgeBookmarks(db);
    await settle(world);
    await judgeBookmarks(db);
    await judgeModels(db, world.ledger);
  } finally {
    await world.forgetEverything();
  }
}

/** Nothing fails any more, and one newcomer does all that is left, in a bounded number of calls. */
async function settle(world: PerspectiveWorld): Promise<void> {
  const { perspectives, registered, troubles, db } = world;
  world.meanwhile = async () => {};
  troubles.heal();
  for (const transaction of [...world.open]) await world.end(transaction, true);
  for (const each of perspectives) if (!registered.includes(each)) await world.register(each);
  const newcomer = world.join(60);
  for (let calls = 0; calls < 100; calls++) {
    await expire(db, null);
    await dueNow(db);
    const found = await world.call(newcomer, 100, world.allCodes);
    for (let work = newcomer.works[0]; work !== undefined; work = newcomer.works[0]) {
      await world.run(newcomer, work, true, false);
    }
    const { rows } = await db.pool.query(
      `select name from wh_perspectives where state = 'building' or state = 'beside' and switches
       union all select perspective_name from wh_perspective_checkpoints where held`,
    );
    if (found === 0 && rows.length === 0 && calls > 1) return;
  }
  const { rows } = await db.pool.query('select * from wh_perspective_checkpoints where held');
  const { rows: builds } = await db.pool.query(
    `select p.name, p.state, b.* from wh_perspectives p join wh_perspective_bookmarks b on b.name = p.name`,
  );
  throw new Error(`there is no end: ${JSON.stringify({ rows, builds })}`);
}
