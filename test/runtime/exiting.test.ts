import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, inject, it } from 'vitest';
import { bundled } from '../support/bundled.js';
import { createTestDatabase } from '../support/database.js';

const run = promisify(execFile);
const program = new URL('exiting-program.ts', import.meta.url);

it('an instance that has ended, in whatever way, leaves nothing that keeps its process alive', async () => {
  await using db = await createTestDatabase();
  await using empty = await createTestDatabase({ template: 'empty' });
  await using doomed = await createTestDatabase();
  const plan = {
    connectionString: db.connectionString,
    emptyDatabase: empty.connectionString,
    doomedDatabase: doomed.connectionString,
    serverUrl: inject('serverUrl'),
  };
  const { stdout } = await run(process.execPath, [bundled(program), JSON.stringify(plan)], {
    timeout: 170_000,
  });
  const ends = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { name: string; left: string[] });
  expect(ends.filter(({ left }) => left.length > 0)).toEqual([]);
  expect(ends).toHaveLength(15);
});
