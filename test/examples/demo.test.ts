import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.js';

const demo = fileURLToPath(new URL('../../examples/demo.ts', import.meta.url));

it('The demo finds everything as promised, and leaves nothing behind', async () => {
  await using db = await createTestDatabase({ template: 'empty' });
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', demo], {
    env: { ...process.env, DATABASE_URL: db.connectionString },
  });
  expect(stdout.match(/^ {3}yes {2}/gm)).toHaveLength(8);
  expect(stdout).toMatch(/Everything is as promised\.\n$/);
  const { rows } = await db.pool.query(`select from pg_namespace where nspname = 'whizbang_demo'`);
  expect(rows).toEqual([]);
});
