import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrateTo } from '../../src/migrate/index.js';
import type { Release } from '../../src/migrate/release.js';
import type { SqlFile } from '../../src/migrate/sql.generated.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { functionF, smallRelease, tableT, viewV } from './support/small-release.js';

let db: TestDatabase;
let role: string;
beforeEach(async () => {
  db = await createTestDatabase({ template: 'empty' });
  role = `"${db.name} Reader"`;
  await db.pool.query(`create role ${role}`);
  await to(smallRelease('1.0.0'));
});
afterEach(async () => {
  await db.pool.query(`drop owned by ${role}`);
  await db.pool.query(`drop role ${role}`);
  await db.drop();
});

const to = (release: Release) => migrateTo(release, { pool: db.pool });
const rowsOf = async (sql: string) => (await db.pool.query(sql)).rows;
const functionsNamedF = () =>
  rowsOf(
    `select oid::text, oid::regprocedure::text as f, prosrc, proacl::text as acl from pg_proc where proname = 'f'`,
  );
const withF = (version: string, text: string) =>
  smallRelease(version, { functions: [{ ...functionF, text }] });
const withV = (version: string, text: string, more: SqlFile[] = []) =>
  smallRelease(version, { views: [{ ...viewV, text }, ...more] });

describe('A function whose text changed', () => {
  it('a function whose text changed is replaced in place and keeps its grants', async () => {
    await db.pool.query(`grant execute on function f to ${role}`);
    const [before] = await functionsNamedF();
    const report = await to(withF('1.0.1', functionF.text.replace('select p_a', 'select p_a + 1')));
    expect(report).toMatchObject({
      applied: [],
      functions: ['f'],
      views: [],
      fromVersion: '1.0.0',
      toVersion: '1.0.1',
    });
    expect(await functionsNamedF()).toEqual([{ ...before, prosrc: ' select p_a + 1 ' }]);
    expect(await rowsOf('select f() as f')).toEqual([{ f: 2 }]);
  });

  it('a function whose text changed is replaced also when the package version is the same', async () => {
    const report = await to(withF('1.0.0', functionF.text.replace('select p_a', 'select 7')));
    expect(report.functions).toEqual(['f']);
    expect(await rowsOf('select f() as f')).toEqual([{ f: 7 }]);
  });

  it.each([
    ['another parameter', 'create or replace function f(p_a int default 1, p_b int default 2) returns int'],
    ['another return type', 'create or replace function f(p_a int default 1) returns bigint'],
    ['another name of a parameter', 'create or replace function f(p_z int default 1) returns int'],
    ['`create` without `or replace`', 'create function f(p_a int default 1) returns int'],
  ])('a function with %s replaces the old one and takes over its grants', async (_, head) => {
    await db.pool.query(`grant execute on function f to ${role} with grant option`);
    await to(withF('1.1.0', `${head} language sql as $$ select 5 $$;`));
    const found = await functionsNamedF();
    expect(found).toHaveLength(1);
    expect(found[0].acl).toContain('Reader\\"=X*/');
    expect(found[0].acl).not.toMatch(/[{,]=/); // an entry without a name is the public's
    expect(await rowsOf('select f()::int as f')).toEqual([{ f: 5 }]);
  });

  it('a changed function stays open to the public when somebody opened it', async () => {
    await db.pool.query('grant execute on function f to public');
    await to(
      withF('1.1.0', 'create or replace function f(p_b text) returns int language sql as $$ select 5 $$;'),
    );
    expect((await functionsNamedF())[0].acl).toMatch(/[{,]=X\//);
  });

  it('a function may use another function whose file comes later', async () => {
    const functions = [
      { name: 'f', text: 'create or replace function f() returns int language sql as $$ select g() $$;' },
      { name: 'g', text: 'create or replace function g() returns int language sql as $$ select 9 $$;' },
    ];
    await to(smallRelease('1.1.0', { functions }));
    expect(await rowsOf('select f() as f')).toEqual([{ f: 9 }]);
  });
});

describe('A view whose text changed', () => {
  it('a view whose text changed is replaced in place when its columns allow it', async () => {
    await db.pool.query('create view of_a_user as select * from v');
    const report = await to(withV('1.0.1', 'create or replace view v as select a, 1 as b from t'));
    expect(report.views).toEqual(['v']);
    expect((await db.pool.query('select * from v')).fields.map(({ name }) => name)).toEqual(['a', 'b']);
  });

  it('a view with a changed column is made anew with its grants and the views that read it', async () => {
    const w = { name: 'w', text: 'create or replace view w as select * from v;' };
    await to(withV('1.0.1', viewV.text, [w]));
    await db.pool.query(`grant select on v, w to ${role}`);
    await to(withV('1.1.0', 'create or replace view v as select a::text as z from t', [w]));
    expect((await db.pool.query('select * from w')).fields.map(({ name }) => name)).toEqual(['z']);
    for (const view of ['v', 'w']) {
      const [may] = await rowsOf(
        `select has_table_privilege('${role.slice(1, -1)}', '${view}', 'select') as read`,
      );
      expect(may).toEqual({ read: true });
    }
  });

  it('a view keeps its grants when a migration had to drop it', async () => {
    await db.pool.query(`grant select on v to ${role}`);
    const widen = { name: '0002_widen', text: 'drop view v; alter table t alter a type bigint;' };
    const report = await to(smallRelease('1.1.0', { migrations: [tableT, widen] }));
    expect(report).toMatchObject({ applied: ['0002_widen'], functions: ['f'], views: ['v'] });
    expect(await rowsOf(`select has_table_privilege('${role.slice(1, -1)}', 'v', 'select') as read`)).toEqual(
      [{ read: true }],
    );
  });

  it('a view change is refused when a view of the user needs the column that goes', async () => {
    await db.pool.query('create view of_a_user as select a from v');
    await expect(to(withV('1.1.0', 'create or replace view v as select 1 as z'))).rejects.toMatchObject({
      code: 'MIGRATION_FAILED',
      details: { sqlState: '2BP01' },
    });
    expect((await db.pool.query('select * from v')).fields.map(({ name }) => name)).toEqual(['a']);
  });
});

describe('What a version no longer has', () => {
  it('functions and views that a version no longer has are removed', async () => {
    const report = await to(smallRelease('1.1.0', { functions: [], views: [] }));
    expect(report).toMatchObject({ alreadyCurrent: false, functions: [], views: [] });
    expect(await functionsNamedF()).toEqual([]);
    expect(await rowsOf(`select to_regclass('v') as v`)).toEqual([{ v: null }]);
    expect(await rowsOf('select name from wh_migrations')).toEqual([{ name: '0001_t' }]);
  });

  it('an older package does not bring back a view that was removed', async () => {
    await to(smallRelease('1.1.0', { views: [] }));
    expect((await to(smallRelease('1.0.0'))).alreadyCurrent).toBe(true);
    expect(await rowsOf(`select to_regclass('v') as v`)).toEqual([{ v: null }]);
  });
});

describe('An older package in a rolling deploy', () => {
  it('an older package leaves a changed function of a newer one alone', async () => {
    await to(withF('1.0.1', functionF.text.replace('select p_a', 'select 11')));
    const report = await to(smallRelease('1.0.0'));
    expect(report).toMatchObject({ alreadyCurrent: true, fromVersion: '1.0.1', toVersion: '1.0.1' });
    expect(await rowsOf('select f() as f')).toEqual([{ f: 11 }]);
  });

  it('an older package leaves functions alone that a newer one found unchanged', async () => {
    await to(smallRelease('1.2.0'));
    const hotfix = withF('1.1.9', functionF.text.replace('select p_a', 'select 13'));
    expect((await to(hotfix)).alreadyCurrent).toBe(true);
    expect(await rowsOf('select f() as f')).toEqual([{ f: 1 }]);
  });

  it('an older package is refused when the database has a migration that it does not know', async () => {
    const more = { name: '0002_more', text: 'create table u (a int);' };
    await to(smallRelease('2.0.0', { migrations: [tableT, more] }));
    await expect(to(smallRelease('1.0.0'))).rejects.toMatchObject({
      code: 'DATABASE_NEWER',
      message: expect.stringContaining('migrated by whizbang 2.0.0 and has 0002_more'),
      details: { packageVersion: '1.0.0', databaseVersion: '2.0.0', unknown: ['0002_more'] },
    });
  });
});

it('a migration whose text was edited after it was applied is refused', async () => {
  const edited = { ...tableT, text: 'create table t (a int, b int);' };
  await expect(to(smallRelease('1.0.1', { migrations: [edited] }))).rejects.toMatchObject({
    code: 'MIGRATION_CHANGED',
    details: { migration: '0001_t' },
  });
});
