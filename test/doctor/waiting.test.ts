// The doctor, and work that waits: at a limit it is no fault, and without an instance it is one at once.
import { expect, it } from 'vitest';
import { examine } from '../../src/doctor/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { inbox, instance, message } from '../support/work.js';

async function look(db: TestDatabase): Promise<string[]> {
  const client = await db.connect();
  const found = await examine(client, 'whizbang');
  await client.end();
  // What the server of the tests lacks is not meant here.
  return found
    .map(({ code }) => code)
    .filter((code) => ['nobody-asks', 'no-handler', 'behind'].includes(code));
}

it('the doctor names work that nobody has ever asked for, at once', async () => {
  await using db = await createTestDatabase();
  await inbox.insertPlain(db.pool, message());
  expect(await look(db)).toEqual(['nobody-asks']);
});

it('the doctor is silent about what waits at a limit, and not when its instance has stopped', async () => {
  await using db = await createTestDatabase();
  const a = instance(db, 'a').with({ p_inbox_handlers: ['mail'], p_inbox_limits: { bill: 0 } });
  await inbox.insertPlain(db.pool, { ...message(), handler_name: 'bill' } as never);
  await a.call();
  expect(await look(db)).toEqual([]);
  await db.pool.query('delete from wh_service_instances');
  expect(await look(db)).toEqual(['nobody-asks']);
});
