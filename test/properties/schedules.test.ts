// Random schedules against the promises. SCHEDULES sets how many, SEED where they begin (always the same without it): a schedule that failed is
// run again by its seed alone (SEED=… SCHEDULES=1). A failure is shrunk before it is shown.
import { expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { runSchedule, ScheduleFailed, stepsOf } from './support/schedule.js';
import type { Step } from './support/steps.js';
import type { Connections } from './support/world.js';

const count = Number(process.env.SCHEDULES ?? 300);
const first = Number(process.env.SEED ?? 20261115);
const databases = 3;

it(`${count} random schedules keep every promise`, { timeout: 600_000 + count * 1000 }, async () => {
  let next = first;
  let failure: { seed: number; error: ScheduleFailed } | undefined;
  const runners = Array.from({ length: Math.min(databases, count) }, async () => {
    await using db = await createTestDatabase();
    const connections = await connect(db);
    while (failure === undefined && next < first + count) {
      const seed = next++;
      try {
        await runSchedule(connections, seed, stepsOf(seed));
      } catch (error) {
        if (!(error instanceof ScheduleFailed)) throw error;
        failure ??= { seed, error: await shrink(connections, seed, error) };
      }
    }
    // A schedule reports in any order, so messages overtake; but no stream goes on without a message that is held.
    const { rows } = await db.pool.query(`select * from wh_order_violations where kind <> 'overtook'`);
    expect(rows).toEqual([]);
  });
  await Promise.all(runners);
  expect(failure === undefined ? '' : describeFailure(failure.seed, failure.error)).toBe('');
});

async function connect(db: TestDatabase): Promise<Connections> {
  const some = (size: number) => Promise.all(Array.from({ length: size }, () => db.connect()));
  return { workers: await some(3), applications: await some(2), observer: await db.connect() };
}

/** Leaves out steps as long as it still fails: halves first, then smaller pieces. */
async function shrink(
  connections: Connections,
  seed: number,
  failed: ScheduleFailed,
): Promise<ScheduleFailed> {
  let smallest = failed;
  const without = (steps: readonly Step[], from: number, size: number) => [
    ...steps.slice(0, from),
    ...steps.slice(from + size),
  ];
  for (
    let size = Math.ceil(failed.steps.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let from = 0; from < smallest.steps.length; ) {
      const error = await runSchedule(connections, seed, without(smallest.steps, from, size)).catch(
        (thrown: unknown) => thrown,
      );
      if (error instanceof ScheduleFailed) smallest = error;
      else from += size;
    }
  }
  return smallest;
}

function describeFailure(seed: number, error: ScheduleFailed): string {
  const steps = error.steps.map(({ kind, seed: own }, i) => `  ${i} ${kind} ${own}`);
  const stack = error.cause instanceof Error ? error.cause.stack : '';
  return [
    `Schedule ${seed} fails ${error.message}`,
    `SEED=${seed} SCHEDULES=1 runs it again. Shrunk:`,
    ...steps,
    stack,
  ].join('\n');
}
