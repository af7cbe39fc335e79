// What a migration would do, told without doing it: `check` for pipelines, `--sql` for who runs it by hand.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { migrate, migrateTo, migrationSql } from '../../src/migrate/index.js';
import { currentRelease, makeRelease } from '../../src/migrate/release.js';
import { embeddedSql } from '../../src/migrate/sql.generated.js';
import { runCli } from '../cli/run-cli.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { catalogOf } from './support/catalog.js';
import { installVersionBefore } from './support/version-before.js';

const release = currentRelease();
const older = makeRelease('0.0.1', {
  ...embeddedSql,
  functions: embeddedSql.functions.filter(({ name }) => name !== 'wh_subscribe'),
});
const psql = ['/usr/bin/psql', '/opt/homebrew/bin/psql'].find(existsSync);

/** By psql where it is installed, as a person would do it. */
async function apply(db: TestDatabase, sql: string): Promise<void> {
  if (psql === undefined) return void (await db.pool.query(sql));
  const folder = await mkdtemp(join(tmpdir(), 'whizbang-sql-'));
  const file = join(folder, 'migration.sql');
  await writeFile(file, sql);
  await promisify(execFile)(psql, ['-v', 'ON_ERROR_STOP=1', '-q', '-f', file, db.connectionString]);
  await rm(folder, { recursive: true });
}

const ledgerOf = async (db: TestDatabase) =>
  (await db.pool.query('select name, kind, hash, package_version from wh_migrations order by name')).rows;

describe('The check of a migration', () => {
  it('the check of a database that was never migrated lists everything and makes nothing', async () => {
    await using db = await createTestDatabase({ template: 'empty' });
    const report = await migrate({ pool: db.pool, check: true });
    expect(report).toMatchObject({ alreadyCurrent: false, fromVersion: null });
    expect(report.applied).toEqual(
      release.files.filter(({ kind }) => kind === 'migration').map(({ name }) => name),
    );
    const { rows } = await db.pool.query(`select from pg_namespace where nspname = 'whizbang'`);
    expect(rows).toHaveLength(0);
  });

  it('whizbang migrate --check exits with 1 and names what is pending, and with 0 when nothing is', async () => {
    await using db = await createTestDatabase({ template: 'empty' });
    await migrateTo(older, { pool: db.pool });
    const check = () => runCli(['migrate', '--check'], { DATABASE_URL: db.connectionString });
    expect(await check()).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('function wh_subscribe\n'),
    });
    await migrate({ pool: db.pool });
    expect(await check()).toMatchObject({ code: 0, stdout: expect.stringContaining('is current') });
  });
});

describe('The SQL of a migration', () => {
  it.each([
    ['a first migration', async () => {}],
    ['an upgrade', (db: TestDatabase) => migrateTo(older, { pool: db.pool }).then(() => {})],
    ['an upgrade from before the types had files', (db: TestDatabase) => installVersionBefore(db.pool)],
  ])('the SQL of %s, run by hand, gives exactly what migrate gives', async (_, prepare) => {
    await using byHand = await createTestDatabase({ template: 'empty' });
    await using migrated = await createTestDatabase({ template: 'empty' });
    await prepare(byHand);
    await prepare(migrated);
    const before = await catalogOf(byHand.pool);
    const sql = await migrationSql({ pool: byHand.pool });
    expect(await catalogOf(byHand.pool)).toEqual(before);
    await apply(byHand, sql ?? '');
    await migrate({ pool: migrated.pool });
    expect(await catalogOf(byHand.pool)).toEqual(await catalogOf(migrated.pool));
    expect(await ledgerOf(byHand)).toEqual(await ledgerOf(migrated));
    expect(await migrationSql({ pool: byHand.pool })).toBeUndefined();
  });

  it('whizbang migrate --sql prints one transaction, and a comment when nothing is to be done', async () => {
    await using db = await createTestDatabase({ template: 'empty' });
    const print = () => runCli(['migrate', '--sql'], { DATABASE_URL: db.connectionString });
    const { code, stdout } = await print();
    expect({ code, begins: stdout.startsWith('begin') }).toEqual({ code: 0, begins: true });
    await apply(db, stdout);
    expect(await print()).toEqual({ code: 0, stdout: '-- Nothing is to be done.\n', stderr: '' });
  });
});
