import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrate, migrateTo } from '../../src/migrate/index.js';
import { currentRelease } from '../../src/migrate/release.js';
import { migrationLock } from '../../src/migrate/run.js';
import { runCli } from '../cli/run-cli.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { smallRelease, tableT } from './support/small-release.js';
import { closeGate } from './support/waiting-migrators.js';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase({ template: 'empty' });
});
afterEach(() => db.drop());

const migrators = Array.from({ length: 20 });

describe('Twenty migrators at once', () => {
  it('one of twenty migrators at once installs the schema, and nineteen find it current', async () => {
    const gate = await closeGate(db, 'messaging');
    const running = migrators.map(() =>
      migrate({ connectionString: db.connectionString, schema: 'messaging' }),
    );
    await gate.waiting(20);
    await gate.open();
    const reports = await Promise.all(running);
    expect(reports.filter((report) => !report.alreadyCurrent)).toHaveLength(1);
    expect(await installedTwice(db.pool)).toEqual([]);
  });

  it('one of twenty processes that migrate at once installs the schema, and nineteen find it current', {
    timeout: 600_000,
  }, async () => {
    const gate = await closeGate(db);
    const running = migrators.map(() => runCli(['migrate'], { DATABASE_URL: db.connectionString }));
    await gate.waiting(20);
    await gate.open();
    const ended = await Promise.all(running);
    const version = currentRelease().version;
    expect(ended.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      migrators.map(() => ({ code: 0, stderr: '' })),
    );
    const lines = ended.map(({ stdout }) => stdout).sort();
    expect(lines.slice(0, 1)[0]).toMatch(/^Schema whizbang installed .*\n$/);
    expect(lines.slice(1)).toEqual(
      migrators.slice(1).map(() => `Schema whizbang is current (whizbang ${version}).\n`),
    );
    expect(await installedTwice(db.pool)).toEqual([]);
  });

  it('migrators that wait install everything when the first of them dies half-way', async () => {
    const gate = await closeGate(db, 'half-way');
    const [space, key] = migrationLock('half-way');
    const pause = { name: '0002_pause', text: `select pg_advisory_xact_lock(${space}, ${key});` };
    const release = smallRelease('1.0.0', { migrations: [tableT, pause] });
    const victim = new pg.Client({ connectionString: db.connectionString, application_name: 'victim' });
    victim.on('error', () => {});
    await victim.connect();
    const dying = migrateTo(release, { client: victim }).catch((error: unknown) => error);
    await gate.waiting(1); // the victim, with its first table made
    const others = [migrateTo(release, { pool: db.pool }), migrateTo(release, { pool: db.pool })];
    await gate.waiting(3); // and two behind it
    await db.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'victim'`,
    );
    expect(await dying).toMatchObject({
      code: 'CONNECTION_LOST',
      hint: expect.stringContaining('Migrate again'),
    });
    await gate.open();
    const reports = await Promise.all(others);
    expect(reports.map((report) => report.applied)).toEqual(
      expect.arrayContaining([['0001_t', '0002_pause'], []]),
    );
  });
});

/** Anything made a second time, under a suffixed name or another signature. */
async function installedTwice(pool: pg.Pool): Promise<unknown[]> {
  const { rows } = await pool.query(
    `select proname::text as name
       from pg_proc p join pg_namespace n on n.oid = pronamespace
      where nspname in ('whizbang', 'messaging')
      group by 1 having count(*) > 1`,
  );
  return rows;
}
