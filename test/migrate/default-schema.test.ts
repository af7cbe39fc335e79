// Who names no schema gets one of our own, and never a second installation beside one that lies in `public`.
import { expect, it } from 'vitest';
import { createWhizbang } from '../../src/index.js';
import { migrate } from '../../src/migrate/index.js';
import { runCli } from '../cli/run-cli.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

const schemasWithTables = async (db: TestDatabase) => {
  const { rows } = await db.pool.query(
    `select schemaname::text as name from pg_tables where tablename = 'wh_outbox' order by 1`,
  );
  return rows.map(({ name }) => name);
};

it('a migration that names no schema makes nothing outside the schema whizbang', async () => {
  await using db = await createTestDatabase({ template: 'empty' });
  expect((await migrate({ pool: db.pool })).schema).toBe('whizbang');
  const { rows } = await db.pool.query(
    `select relnamespace::regnamespace::text as schema from pg_class where relname like 'wh\\_%'
     union select pronamespace::regnamespace::text from pg_proc where proname ~ '^wh_|^process_work_batch$'
     union select typnamespace::regnamespace::text from pg_type where typname like 'wh\\_%'`,
  );
  expect(rows).toEqual([{ schema: 'whizbang' }]);
});

it('a migration that names no schema refuses to begin anew beside tables in public', async () => {
  await using db = await createTestDatabase({ template: 'empty' });
  await migrate({ pool: db.pool, schema: 'public' });
  const refused = migrate({ pool: db.pool });
  await expect(refused).rejects.toMatchObject({
    code: 'SCHEMA_NOT_NAMED',
    hint: expect.stringContaining(`schema: 'public'`),
    details: { schema: 'whizbang', installedIn: 'public' },
  });
  const run = await runCli(['migrate', '--database-url', db.connectionString]);
  expect(run).toMatchObject({ code: 1, stderr: expect.stringContaining('--schema public') });
  expect(await schemasWithTables(db)).toEqual(['public']);
});

it('a migration that names the schema whizbang installs it beside tables in public', async () => {
  await using db = await createTestDatabase({ template: 'empty' });
  await migrate({ pool: db.pool, schema: 'public' });
  await migrate({ pool: db.pool, schema: 'whizbang' });
  expect(await schemasWithTables(db)).toEqual(['public', 'whizbang']);
  expect(await migrate({ pool: db.pool })).toMatchObject({ schema: 'whizbang', alreadyCurrent: true });
});

it('a service that names no schema is told of the schema public when whizbang is missing', async () => {
  await using db = await createTestDatabase({ template: 'empty' });
  await migrate({ pool: db.pool, schema: 'public' });
  const shop = createWhizbang({ service: 'shop', pool: db.pool });
  await expect(shop.start()).rejects.toMatchObject({
    code: 'NOT_MIGRATED',
    hint: expect.stringContaining(`schema: 'public'`),
  });
  await shop.stop();
});
