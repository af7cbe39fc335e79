// The doctor finds each fault that is planted here, says how to mend it, and finds nothing on a healthy system.
import { readdirSync, readFileSync } from 'node:fs';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { examine, type Finding } from '../../src/doctor/index.js';
import { migrate } from '../../src/migrate/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { createDatabaseOnOwnServer } from '../support/own-server.js';
import { inbox, instance, message, outbox, silence, streams } from '../support/work.js';

let db: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  // A server as in production: the one of the other tests writes nothing safely.
  db = await createDatabaseOnOwnServer({
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    autovacuum: 'on',
    max_prepared_transactions: '2',
  });
  client = await db.connect();
});
afterAll(() => db.drop());

const look = () => examine(client, 'whizbang');
const codes = (findings: readonly Finding[]) => findings.map(({ code, level }) => `${level} ${code}`);
const empty = (table: string) => db.pool.query(`delete from ${table}`);

describe('The doctor', () => {
  beforeEach(async () => {
    for (const table of [
      'wh_inbox',
      'wh_outbox',
      'wh_active_streams',
      'wh_dead_letters',
      'wh_service_instances',
    ])
      await empty(table);
  });

  it('the doctor finds nothing on a healthy system', async () => {
    const a = instance(db, 'a');
    await a.call(outbox.stores(...streams(5)), inbox.stores(...streams(5)));
    expect(await look()).toEqual([]);
  });

  it('the doctor changes nothing and leaves no schema behind', async () => {
    const schemas = async () => (await db.pool.query('select nspname from pg_namespace order by 1')).rows;
    const before = await schemas();
    await look();
    expect(await schemas()).toEqual(before);
  });

  it.for([
    ['an index', 'drop index wh_outbox_stream', 'The index whizbang.wh_outbox_stream is missing.'],
    ['a function', 'drop function wh_listens', 'The function whizbang.wh_listens(text[]) is missing.'],
    [
      'a function that was replaced',
      `create or replace function whizbang.wh_channel() returns text language sql as $$ select 'other' $$`,
      'The function whizbang.wh_channel() is changed.',
    ],
    [
      'a column',
      'alter table wh_inbox drop column interruptions cascade',
      'The column whizbang.wh_inbox.interruptions is missing.',
    ],
    [
      'a default',
      'alter table wh_outbox alter column attempts drop default',
      'The column whizbang.wh_outbox.attempts is changed.',
    ],
    [
      'a trigger',
      'alter table wh_outbox disable trigger wh_outbox_wake',
      'The trigger whizbang.wh_outbox.wh_outbox_wake is disabled.',
    ],
    ['a view', 'drop view wh_leases', 'The view whizbang.wh_leases is missing.'],
    [
      'a constraint',
      'alter table wh_event_store drop constraint wh_event_store_stream_id_version_key',
      undefined,
    ],
  ] as const)('the doctor names %s that was lost, and its statement repairs it', async ([, harm, text]) => {
    await client.query(harm);
    try {
      const found = (await look()).filter(({ code }) => code === 'drift');
      expect(found.length).toBeGreaterThan(0);
      if (text !== undefined) expect(found.map((finding) => finding.text)).toContain(text);
    } finally {
      // A view that needs a lost column is lost with it: columns come first.
      for (const { remedy } of await look()) await client.query(remedy);
    }
    expect(await look()).toEqual([]);
  });

  it('the doctor names an old transaction with its role, and the statement that ends it', async () => {
    const old = await db.connect();
    await old.query('begin isolation level repeatable read; select 1 from wh_outbox');
    const { rows } = await old.query('select pg_backend_pid() as pid');
    // Ten minutes cannot be waited for: what the check reads is made old.
    const { rows: definition } = await db.pool.query(`select pg_get_viewdef('wh_old_transactions') as text`);
    const text = (definition[0].text as string).replace(
      'a.xact_start AS since',
      `a.xact_start - interval '11 minutes' as since`,
    );
    await db.pool.query(`create or replace view whizbang.wh_old_transactions as ${text}`);
    try {
      const found = (await look()).filter(({ code }) => code === 'old-transaction');
      expect(found.map(({ remedy }) => remedy)).toContain(`select pg_terminate_backend(${rows[0].pid});`);
      expect(found[0]?.text).toContain('idle in transaction');
    } finally {
      await db.pool.query(`create or replace view whizbang.wh_old_transactions as ${definition[0].text}`);
      await old.query('rollback');
    }
  });

  it('the doctor names a prepared transaction and the statement that ends it', async () => {
    await client.query(`begin; update wh_lanes set lane = lane; prepare transaction 'left over'`);
    try {
      const { rows } = await client.query(
        `select kind, name from wh_old_transactions where kind = 'prepared'`,
      );
      expect(rows).toEqual([{ kind: 'prepared', name: 'left over' }]);
    } finally {
      await client.query(`rollback prepared 'left over'`);
    }
  });

  it('the doctor names stale instances, and living ones that differ', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map((digit) => instance(db, digit)) as [
      never,
      never,
      never,
    ] as unknown as ReturnType<typeof instance>[];
    await a?.call({ p_facts: { version: '0.1.0' } });
    await b?.call({ p_facts: { version: '0.2.0' }, p_partition_count: 100 });
    await c?.call();
    await silence(db, c as never, 601);
    expect(codes(await look())).toEqual([
      'fault partition-counts',
      'warning stale-instance',
      'warning versions-differ',
    ]);
  });

  it('the doctor names work that waits while nobody takes it', async () => {
    const a = instance(db, 'a');
    await a.call(outbox.stores(...streams(3)), outbox.room(0));
    await a.call(outbox.room(1));
    await db.pool.query(
      `update wh_active_streams set available_at = now() - interval '2 minutes', instance_id = null, lease_expiry = null`,
    );
    expect(codes(await look())).toEqual(['warning behind']);
    await db.pool.query('delete from wh_service_instances');
    expect(codes(await look())).toEqual(['fault nobody-asks']);
  });

  it('the doctor names a handler that nobody has, and dead letters by their error', async () => {
    const a = instance(db, 'a').with({ p_inbox_handlers: ['mail'] });
    await inbox.insertPlain(db.pool, { ...message(), handler_name: 'bill' } as never);
    await inbox.insertPlain(db.pool, { ...message(), handler_name: 'mail' } as never);
    const items = await a.call();
    await a.call(inbox.fails(items, { error: 'no such card', dead_letter: true }));
    const found = await look();
    expect(codes(found)).toEqual(['fault no-handler', 'warning dead-letters']);
    expect(found.map(({ text }) => text)).toEqual([
      '1 stream waits for bill, which no living instance has.',
      '1 dead letter of shop.OrderPlaced in the inbox: no such card',
    ]);
  });

  it('the doctor sees that the clock of the server has gone back', async () => {
    const a = instance(db, 'a');
    await a.call();
    await silence(db, a, -60);
    expect(codes(await look())).toEqual(['warning clock-went-back']);
  });

  it('the doctor names settings that lose what was committed', async () => {
    await client.query('set synchronous_commit = off');
    expect(codes(await look())).toEqual(['warning synchronous-commit']);
    await client.query('reset synchronous_commit');
  });

  it('the doctor names a schema that is older than the package', async () => {
    const { rows } = await client.query(`delete from wh_migrations where name = 'wh_listens' returning *`);
    expect(await look()).toMatchObject([
      {
        code: 'pending',
        level: 'fault',
        remedy: 'whizbang migrate --schema whizbang',
        facts: { pending: ['wh_listens'] },
      },
    ]);
    await client.query(
      `insert into wh_migrations select * from jsonb_populate_record(null::wh_migrations, $1)`,
      [JSON.stringify(rows[0])],
    );
    expect(await look()).toEqual([]);
  });
});

describe('The doctor before and beside an installation', () => {
  it('the doctor says of a database without whizbang how to migrate it', async () => {
    await using fresh = await createTestDatabase({ template: 'empty' });
    const found = await examine(await fresh.connect(), 'messaging');
    expect(found.filter(({ level }) => level === 'fault')).toMatchObject([
      { code: 'not-migrated', remedy: 'whizbang migrate --schema messaging' },
    ]);
  });

  it('the doctor compares a schema with an unusual name', async () => {
    await using fresh = await createTestDatabase({ template: 'empty' });
    await migrate({ pool: fresh.pool, schema: `it's "odd"` });
    const found = await examine(await fresh.connect(), `it's "odd"`);
    expect(found.filter(({ code }) => code === 'drift')).toEqual([]);
  });

  it('the doctor says to a role without rights what it cannot look at', async () => {
    await using fresh = await createTestDatabase();
    const reader = await fresh.connect();
    await reader.query(`create role doctor_${fresh.name}; set role doctor_${fresh.name}`);
    try {
      expect(codes(await examine(reader, 'whizbang')).filter((code) => !code.includes('sync'))).toContain(
        'fault privileges',
      );
      await reader.query(
        `reset role; grant usage on schema whizbang to doctor_${fresh.name}; grant select on all tables in schema whizbang to doctor_${fresh.name}; set role doctor_${fresh.name}`,
      );
      expect(codes(await examine(reader, 'whizbang'))).toContain('warning unchecked');
    } finally {
      await reader.query(`reset role; drop owned by doctor_${fresh.name}; drop role doctor_${fresh.name}`);
    }
  });
});

describe('The page of the doctor', () => {
  it('the page of the doctor lists exactly the codes that the checks can give', () => {
    const folder = new URL('../../src/doctor/checks/', import.meta.url);
    const checks = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), 'utf8'));
    const given = [...checks.join('\n').matchAll(/(?:fault|warning)\(\s*'([a-z-]+)'/g)].map(
      ([, code]) => code,
    );
    const page = readFileSync(new URL('../../docs/operate/doctor.md', import.meta.url), 'utf8');
    const listed = [...page.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, code]) => code);
    expect([...new Set(given)].sort()).toEqual([...listed].sort());
  });
});
