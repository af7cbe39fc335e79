// What long work shows on a terminal, which is a real one: of `script`, which Linux has.
import { execFile } from 'node:child_process';
import { accessSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { cliProgram } from './run-cli.js';

const script = '/usr/bin/script';

function isThere(): boolean {
  try {
    accessSync(script);
    return process.platform === 'linux';
  } catch {
    return false;
  }
}

it.skipIf(!isThere())('dead-letters retry shows on a terminal how many of how many are done', async () => {
  await using db = await createTestDatabase();
  await db.pool.query(`insert into wh_dead_letters (source, message_id, destination, event_type, event_data, is_event, status, flags,
      sequence_order, attempts, stored_at, died_at)
    select 'inbox', gen_random_uuid(), 'Old', 'Old', '1', false, 1, 0, i, 1, now(), now() from generate_series(1, 1500) i`);
  const command = `${process.execPath} ${cliProgram()} dead-letters retry --type Old --yes`;
  const { stdout } = await promisify(execFile)(script, ['-qec', command, '/dev/null'], {
    env: { ...process.env, DATABASE_URL: db.connectionString },
  });
  for (const count of [0, 1000, 1500]) expect(stdout).toContain(`${count} of 1500 dead letters`);
  expect(stdout).toContain('1500 dead letters put back.');
});
