import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrate, migrateTo } from '../../src/migrate/index.js';
import { currentRelease } from '../../src/migrate/release.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { functionF, smallRelease, tableT } from './support/small-release.js';
import { closeGate } from './support/waiting-migrators.js';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase({ template: 'empty' });
});
afterEach(() => db.drop());

const release = currentRelease();
const namesOf = (kind: string) => release.files.filter((file) => file.kind === kind).map((file) => file.name);
const rowsOf = async (sql: string, values: unknown[] = []) => (await db.pool.query(sql, values)).rows;

describe('A first migration', () => {
  it('a first migration installs everything and says so', async () => {
    const report = await migrate({ connectionString: db.connectionString });
    expect(report).toEqual({
      schema: 'whizbang',
      applied: namesOf('migration'),
      functions: namesOf('function'),
      views: namesOf('view'),
      alreadyCurrent: false,
      fromVersion: null,
      toVersion: release.version,
    });
    expect(
      await rowsOf('select name, kind, hash, package_version from wh_migrations order by name collate "C"'),
    ).toEqual(
      release.files
        .map(({ name, kind, hash }) => ({ name, kind, hash, package_version: release.version }))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    );
  });

  it('a first migration closes every function to the public', async () => {
    await migrate({ pool: db.pool });
    const open = await rowsOf(
      `select proname from pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner))) acl
        where pronamespace = 'whizbang'::regnamespace and acl.grantee = 0`,
    );
    expect(open).toEqual([]);
  });

  it('a first migration makes one function of each name', async () => {
    await migrate({ pool: db.pool });
    const installed = await rowsOf(
      `select proname::text as name from pg_proc where pronamespace = 'whizbang'::regnamespace order by 1`,
    );
    expect(installed.map(({ name }) => name).sort()).toEqual(namesOf('function').sort());
  });

  it('a first migration makes types that no column of a table or view has', async () => {
    await migrate({ pool: db.pool });
    const stored = await rowsOf(
      `select c.relname, a.attname from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_type t on t.oid = a.atttypid
        where c.relkind in ('r', 'v') and t.typnamespace = 'whizbang'::regnamespace`,
    );
    expect(stored).toEqual([]);
  });

  it('a migration works over a single client and leaves its search path alone', async () => {
    const client = await db.connect();
    await migrate({ client, schema: 'messaging' });
    const { rows } = await client.query('show search_path');
    expect(rows).toEqual([{ search_path: '"$user", public, whizbang' }]);
  });

  it('a migration waits for its turn longer than the timeouts of its session would allow', async () => {
    const gate = await closeGate(db);
    const client = await db.connect();
    await client.query(`set statement_timeout = '250ms'; set lock_timeout = '250ms'`);
    const migration = migrate({ client });
    await gate.waiting(1);
    await (await db.connect()).query('select pg_sleep(0.3)');
    await gate.open();
    expect((await migration).applied).toEqual(namesOf('migration'));
  });
});

describe('A migration of a current database', () => {
  it('a migration of a current database does nothing and says so', async () => {
    await migrate({ pool: db.pool });
    const before = await rowsOf('select xmin::text, * from wh_migrations order by name');
    expect(await migrate({ pool: db.pool })).toEqual({
      schema: 'whizbang',
      applied: [],
      functions: [],
      views: [],
      alreadyCurrent: true,
      fromVersion: release.version,
      toVersion: release.version,
    });
    expect(await rowsOf('select xmin::text, * from wh_migrations order by name')).toEqual(before);
  });

  it('a migration of a current database is two queries, of which one asks for the engine, and takes no lock', async () => {
    await migrate({ pool: db.pool });
    await closeGate(db);
    const queries: string[] = [];
    const client = await db.connect();
    const counted = {
      query: (text: string, values?: unknown[]) => {
        queries.push(text);
        return client.query(text, values);
      },
    };
    expect((await migrate({ client: counted })).alreadyCurrent).toBe(true);
    expect(queries).toHaveLength(2);
    expect(queries.filter((text) => text.includes('version()'))).toHaveLength(1);
  });
});

describe('The schema option', () => {
  it.each(['messaging', 'Mixed Case', 'with "quotes"', "it's; drop table x", 'sélection', 'a'.repeat(63)])(
    'a migration installs into a schema named %s',
    async (schema) => {
      expect((await migrate({ pool: db.pool, schema })).schema).toBe(schema);
      const tables = await rowsOf(
        `select count(*)::int as n from pg_tables where schemaname = $1 and tablename = 'wh_outbox'`,
        [schema],
      );
      expect(tables).toEqual([{ n: 1 }]);
      expect(await rowsOf(`select to_regclass('whizbang.wh_outbox') as stray`)).toEqual([{ stray: null }]);
      expect((await migrate({ pool: db.pool, schema })).alreadyCurrent).toBe(true);
    },
  );

  it.each(['', 'pg_catalog', 'pg_mine', 'information_schema', 'a\0b', 'é'.repeat(32)])(
    'a migration refuses the schema name %j',
    async (schema) => {
      await expect(migrate({ pool: db.pool, schema })).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        details: { option: 'schema', value: schema },
      });
    },
  );

  it('two schemas of one database stand side by side', async () => {
    await Promise.all([migrate({ pool: db.pool, schema: 'one' }), migrate({ pool: db.pool, schema: 'two' })]);
    await db.pool.query(
      `insert into one.wh_outbox (message_id, destination, event_type, event_data)
       values (gen_random_uuid(), 'd', 't', '{}')`,
    );
    const counts = await rowsOf(
      'select (select count(*)::int from one.wh_outbox) as one, (select count(*)::int from two.wh_outbox) as two',
    );
    expect(counts).toEqual([{ one: 1, two: 0 }]);
    const paths = await rowsOf(
      `select distinct n.nspname::text as schema, setting
         from pg_proc p join pg_namespace n on n.oid = p.pronamespace, unnest(proconfig) setting
        where n.nspname in ('one', 'two') and setting like 'search_path=%' order by 1`,
    );
    expect(paths).toEqual([
      { schema: 'one', setting: 'search_path=one, pg_temp' },
      { schema: 'two', setting: 'search_path=two, pg_temp' },
    ]);
  });

  it('a migration needs no right to create schemas when the schema is there', async () => {
    const role = `${db.name}_owner`;
    await db.pool.query(`create role ${role}`);
    const client = await db.connect();
    try {
      await client.query(`create schema messaging authorization ${role}`);
      await client.query(`set role ${role}`);
      await migrate({ client, schema: 'messaging' });
      await expect(migrate({ client, schema: 'another' })).rejects.toMatchObject({
        code: 'PERMISSION_DENIED',
      });
    } finally {
      await client.query('reset role');
      await client.query('drop schema messaging cascade');
      await client.query(`drop role ${role}`);
    }
  });
});

describe('A migration that cannot be applied', () => {
  it('a migration that fails changes nothing and names the file and line', async () => {
    const broken = {
      name: '0002_broken',
      text: 'create table fine (a int);\ncreate table borken (a nonsense);',
    };
    const migration = migrateTo(smallRelease('1.0.0', { migrations: [tableT, broken] }), { pool: db.pool });
    await expect(migration).rejects.toMatchObject({
      code: 'MIGRATION_FAILED',
      message: 'The migration 0002_broken failed at line 2: type "nonsense" does not exist',
      details: { file: '0002_broken', kind: 'migration', sqlState: '42704', line: 2 },
    });
    expect(await rowsOf(`select relname from pg_class where relname = 'fine'`)).toEqual([]);
  });

  it('a migration that fails leaves a client of the caller outside any transaction', async () => {
    const client = await db.connect();
    const broken = smallRelease('1.0.0', { migrations: [{ name: '0001_broken', text: 'select 1/0' }] });
    await expect(migrateTo(broken, { client })).rejects.toMatchObject({ code: 'MIGRATION_FAILED' });
    await expect(client.query('select 1 as fine')).resolves.toMatchObject({ rows: [{ fine: 1 }] });
  });

  it('a migration does not replace a function that it did not make', async () => {
    await db.pool.query(
      `create schema whizbang; create function whizbang.f(a text) returns text language sql as 'select a'`,
    );
    await expect(migrateTo(smallRelease('1.0.0'), { pool: db.pool })).rejects.toMatchObject({
      code: 'MIGRATION_FAILED',
      details: { schema: 'whizbang', object: 'f(text)' },
    });
    expect(
      await rowsOf(`select oid::regprocedure::text as f from pg_proc where proname = '${functionF.name}'`),
    ).toEqual([{ f: 'f(text)' }]);
  });

  it('a migration fails with CONNECTION_FAILED without a server and INVALID_OPTION without an address', async () => {
    await expect(migrate({ connectionString: 'postgres://x:secret@127.0.0.1:1/x' })).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
    });
    for (const nothing of [{ connectionString: '' }, { pool: undefined }, {}, undefined]) {
      await expect(migrate(nothing as never)).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        message: 'migrate was given no connectionString, pool or client.',
      });
    }
    await expect(migrate({ connectionString: 'localhost/shop' })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('not a URL of PostgreSQL'),
    });
    const invalid = await migrate({ connectionString: 'postgres://x:secret@host:port:1/x' }).catch(
      (e: unknown) => e,
    );
    expect(invalid).toMatchObject({ code: 'INVALID_OPTION', details: { option: 'connectionString' } });
    expect(JSON.stringify(invalid) + String((invalid as Error).cause)).not.toContain('secret');
  });

  it('a migration refuses a misspelt option', async () => {
    const misspelt = { connectionString: 'postgres://localhost/shop', shema: 'messaging' };
    await expect(migrate(misspelt)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: 'migrate: there is no option shema.',
    });
  });
});
