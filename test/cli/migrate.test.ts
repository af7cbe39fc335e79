import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describe as describeReport } from '../../src/cli/commands/migrate.js';
import { packageVersion } from '../../src/version.js';
import { withoutPasswords } from '../../src/without-passwords.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { runCli } from './run-cli.js';

describe('whizbang migrate', () => {
  let db: TestDatabase;
  beforeEach(async () => {
    db = await createTestDatabase({ template: 'empty' });
  });
  afterEach(() => db.drop());

  it('whizbang migrate installs from DATABASE_URL, and the second time reports that nothing is to do', async () => {
    const env = { DATABASE_URL: db.connectionString };
    const first = await runCli(['migrate'], env);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(
      new RegExp(
        `^Schema whizbang installed \\(whizbang ${packageVersion}\\): \\d+ migrations?, \\d+ functions, \\d+ views? applied\\.\\n$`,
      ),
    );
    expect(await runCli(['migrate'], env)).toEqual({
      code: 0,
      stdout: `Schema whizbang is current (whizbang ${packageVersion}).\n`,
      stderr: '',
    });
  });

  it('whizbang migrate prefers --database-url to DATABASE_URL, and installs into --schema', async () => {
    const env = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nowhere' };
    const run = await runCli(
      ['migrate', '--database-url', db.connectionString, '--schema', 'messaging'],
      env,
    );
    expect(run).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^Schema messaging installed/),
    });
    const { rows } = await db.pool.query(`select to_regclass('messaging.wh_outbox') is not null as there`);
    expect(rows).toEqual([{ there: true }]);
  });

  it('whizbang migrate writes what is wrong and what to do to stderr, and exits with 1', async () => {
    expect(await runCli(['migrate'])).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'INVALID_OPTION: No database URL was given.\n' +
        'Give --database-url postgres://user@host/database or set DATABASE_URL.\n',
    });
    const schema = await runCli(['migrate', '--schema', 'pg_x'], { DATABASE_URL: db.connectionString });
    expect(schema).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^INVALID_OPTION: .*pg_x/),
    });
  });

  it('whizbang migrate never prints the password', async () => {
    for (const url of ['postgres://me:hush-hush@127.0.0.1:1/x', 'postgres://me:hush-hush@host:port:1/x']) {
      const run = await runCli(['migrate', '--database-url', url]);
      expect(run.code).toBe(1);
      expect(run.stdout + run.stderr).not.toContain('hush');
    }
    const help = await runCli(['migrate', '--help'], { DATABASE_URL: 'postgres://me:hush-hush@h/x' });
    expect(help.stdout).toContain('--database-url');
    expect(help.stdout).not.toContain('hush');
  });
});

describe('whizbang', () => {
  it('whizbang --version prints the version', async () => {
    expect(await runCli(['--version'])).toEqual({ code: 0, stdout: `${packageVersion}\n`, stderr: '' });
  });

  it('whizbang suggests the command that was probably meant', async () => {
    const run = await runCli(['migrat']);
    expect(run).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('migrate') });
  });
});

describe('The report of a migration', () => {
  const report = {
    schema: 's',
    applied: [],
    functions: ['f'],
    views: [],
    alreadyCurrent: false,
    fromVersion: '1.0.0',
    toVersion: '1.1.0',
  };

  it('the report of a migration names what was applied and the version before', () => {
    expect(describeReport(report)).toBe(
      'Schema s migrated from whizbang 1.0.0 to 1.1.0: 1 function applied.',
    );
    expect(describeReport({ ...report, functions: [] })).toContain('obsolete objects removed');
  });
});

describe('Passwords in printed text', () => {
  it('a printed URL has no password', () => {
    expect(withoutPasswords('at postgres://u:p@ss@h:5432/d, then x')).toBe(
      'at postgres://u:***@h:5432/d, then x',
    );
    expect(withoutPasswords('postgres://u@h/d and a:b@c')).toBe('postgres://u@h/d and a:b@c');
    expect(withoutPasswords('Endpoint=sb://h/;SharedAccessKey=a+b/c=;EntityPath=q')).toBe(
      'Endpoint=sb://h/;SharedAccessKey=***;EntityPath=q',
    );
  });
});
