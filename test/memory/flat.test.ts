import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import type { Plan, Sample } from './plan.js';

const program = fileURLToPath(new URL('program.ts', import.meta.url));

/** Bytes. An entry that stays behind in a map is 120; what V8 learns meanwhile makes 15. */
const leftPerMessage = 50;

it('an instance keeps nothing of a handled message in memory', async () => {
  await using db = await createTestDatabase();
  // The first part warms up: connections are opened, functions compiled.
  const samples = await run({ connectionString: db.connectionString, parts: [2_000, 9_000, 9_000] });
  expect(samples.map(({ handled }) => handled)).toEqual([2_000, 11_000, 20_000]);
  const [, first, second] = samples as [Sample, Sample, Sample];
  expect((second.live - first.live) / 9_000).toBeLessThan(leftPerMessage);
});

async function run(plan: Plan): Promise<Sample[]> {
  const child = fork(program, [JSON.stringify(plan)], { execArgv: ['--expose-gc', '--import', 'tsx'] });
  const samples: Sample[] = [];
  child.on('message', (sample) => samples.push(sample as Sample));
  try {
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    return samples;
  } finally {
    child.kill('SIGKILL');
  }
}
