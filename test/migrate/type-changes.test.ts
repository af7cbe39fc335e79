import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrateTo } from '../../src/migrate/index.js';
import type { Release } from '../../src/migrate/release.js';
import type { SqlFile } from '../../src/migrate/sql.generated.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { smallRelease } from './support/small-release.js';

const inner: SqlFile = { name: 'inner_type', text: '-- In another.\ncreate type inner_type as (a int);' };
const outer: SqlFile = { name: 'outer_type', text: 'create type outer_type as (b int, c inner_type[]);' };
const functions: SqlFile[] = [
  {
    name: 'make',
    text: `create or replace function make() returns outer_type language plpgsql
           as $$ declare o outer_type; begin o.b := 1; o.c := array[row(2)::inner_type]; return o; end $$;`,
  },
  {
    name: 'take',
    text: `create or replace function take(p inner_type[]) returns int language sql as $$ select p[1].a $$;`,
  },
  {
    name: 'without',
    text: `create or replace function without() returns int language plpgsql
           as $$ declare o outer_type := make(); begin return take(o.c); end $$;`,
  },
];
const views: SqlFile[] = [{ name: 'v', text: 'create or replace view v as select (make()).b;' }];
const withTypes = (version: string, types: SqlFile[]) => smallRelease(version, { types, functions, views });

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase({ template: 'empty' });
  await to(withTypes('1.0.0', [inner, outer]));
});
afterEach(() => db.drop());

const to = (release: Release) => migrateTo(release, { pool: db.pool });
const rowsOf = async (sql: string) => (await db.pool.query(sql)).rows;
const oids = () =>
  rowsOf(
    `select 'inner_type'::regtype::oid::text as inner, 'outer_type'::regtype::oid::text as outer, 'make'::regproc::oid::text as make`,
  );
const attributes = (type: string) =>
  rowsOf(
    `select attname::text as name, format_type(atttypid, atttypmod) as type from pg_attribute
      where attrelid = '${type}'::regclass and not attisdropped order by attnum`,
  );
const kinds = () =>
  rowsOf(`select name, kind, package_version from wh_migrations where kind = 'type' order by 1`);

describe('A type whose text changed', () => {
  it('a type that only got more at its end stays, and so does what uses it', async () => {
    const before = await oids();
    const grown = {
      ...inner,
      text: 'create type inner_type as (a int, "Z z" text collate "C", d numeric(9, 2)[]);',
    };
    const report = await to(withTypes('1.0.1', [grown, outer]));
    expect(report).toMatchObject({ applied: [], functions: ['make', 'take', 'without'], views: ['v'] });
    expect(await oids()).toEqual(before);
    expect(await attributes('inner_type')).toEqual([
      { name: 'a', type: 'integer' },
      { name: 'Z z', type: 'text' },
      { name: 'd', type: 'numeric(9,2)[]' },
    ]);
    expect(await rowsOf(`select to_regtype('wh_as_in_file') as left`)).toEqual([{ left: null }]);
    expect((await to(withTypes('1.0.1', [grown, outer]))).alreadyCurrent).toBe(true);
  });

  it.each([
    ['something before', 'create type inner_type as (z int, a int);'],
    ['another type in a place', 'create type inner_type as (a bigint);'],
    ['another collation, beside more', 'create type inner_type as (z text collate "C", a int, y int);'],
  ])('a type that got %s is made anew with all that uses it', async (_, text) => {
    const session = await db.connect();
    expect((await session.query('select b from v')).rows).toEqual([{ b: 1 }]);
    const [before] = await oids();
    await to(
      smallRelease('1.0.1', {
        types: [{ ...inner, text }, outer],
        functions: functions.map((file) => ({ ...file, text: file.text.replace('row(2)', 'null') })),
        views,
      }),
    );
    const [after] = await oids();
    for (const name of ['inner', 'outer', 'make']) expect(after[name], name).not.toBe(before[name]);
    expect((await session.query('select b from v')).rows).toEqual([{ b: 1 }]);
    expect((await session.query('select without() as n')).rows).toEqual([{ n: null }]);
  });

  it('a type change is refused when something of a user needs the type', async () => {
    await db.pool.query(`create table of_a_user as select row(7)::inner_type as kept`);
    const before = await oids();
    const other = { ...inner, text: 'create type inner_type as (z int);' };
    await expect(to(withTypes('1.0.1', [other, outer]))).rejects.toMatchObject({
      code: 'MIGRATION_FAILED',
      details: { sqlState: '2BP01', detail: expect.stringContaining('of_a_user') },
    });
    expect(await oids()).toEqual(before);
    expect(await rowsOf('select (kept).a from of_a_user')).toEqual([{ a: 7 }]);
  });
});

describe('A type', () => {
  it('a new type is made, in the ledger too', async () => {
    const more = { name: 'more_type', text: 'create type more_type as (o outer_type);' };
    await to(withTypes('1.0.1', [inner, outer, more]));
    expect(await attributes('more_type')).toEqual([{ name: 'o', type: 'outer_type' }]);
    expect(await kinds()).toEqual(
      ['inner_type', 'more_type', 'outer_type'].map((name) => ({
        name,
        kind: 'type',
        package_version: '1.0.1',
      })),
    );
  });

  it('a type that a version no longer has is removed with its last function', async () => {
    const report = await to(smallRelease('1.1.0', { functions: [], views: [] }));
    expect(report.alreadyCurrent).toBe(false);
    expect(await rowsOf(`select to_regtype('inner_type') as i, to_regtype('outer_type') as o`)).toEqual([
      { i: null, o: null },
    ]);
    expect(await kinds()).toEqual([]);
  });

  it('an older package leaves a type of a newer one alone', async () => {
    await to(withTypes('2.0.0', [{ ...inner, text: 'create type inner_type as (a int, z int);' }, outer]));
    expect(await to(withTypes('1.0.0', [inner, outer]))).toMatchObject({
      alreadyCurrent: true,
      toVersion: '2.0.0',
    });
    expect(await attributes('inner_type')).toHaveLength(2);
  });

  it('a type that whizbang did not make is not replaced', async () => {
    await db.pool.query('create schema other; create type other.inner_type as (mine int)');
    await expect(
      migrateTo(withTypes('1.0.0', [inner, outer]), { pool: db.pool, schema: 'other' }),
    ).rejects.toMatchObject({
      code: 'MIGRATION_FAILED',
      message: 'Schema other already has a type inner_type that whizbang did not make.',
    });
  });
});
