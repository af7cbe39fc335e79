import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Logger, silentLogger } from '../../src/logger.js';
import { migrate } from '../../src/migrate/index.js';
import {
  type OtherDatabaseOptions,
  postgresTransport,
  type TransportConnection,
} from '../../src/transports/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { joinAs } from './postgres-services.js';
import { message, never } from './world.js';

const secret = 'a-secret-that-nobody-may-read';
let near: TestDatabase;
let far: TestDatabase;
beforeAll(async () => {
  [near, far] = [await createTestDatabase({ template: 'empty' }), await createTestDatabase()];
  await migrate({ pool: near.pool, schema: 'shop' });
  await migrate({ pool: far.pool, schema: 'ledger' });
  await far.pool.query(`create schema bare; create role sender_${process.pid} login password '${secret}'`);
});
afterAll(async () => {
  await far.pool.query(`drop owned by sender_${process.pid}; drop role sender_${process.pid}`);
  await near.drop();
  await far.drop();
});

function urlOf(user: string, password: string, database = far.name): string {
  const url = new URL(far.connectionString);
  return Object.assign(url, { username: user, password, pathname: `/${database}` }).href;
}

async function join(entry: object, logger: Logger = silentLogger): Promise<TransportConnection> {
  const transport = postgresTransport({ databases: { ledger: entry as OtherDatabaseOptions } });
  const { connection } = await joinAs(near, 'shop', { pool: near.pool, transport, host: { logger } });
  return connection;
}

/** All that a person or a log could see of it. */
function allOf(error: unknown): string {
  const texts: unknown[] = [];
  for (let link = error; link instanceof Error; link = link.cause)
    texts.push(link.message, link.stack, JSON.stringify(link));
  return texts.join('\n');
}

describe('A database that refuses messages', () => {
  const role = () => `sender_${process.pid}`;

  it.each([
    ['the password is wrong', () => urlOf(role(), `${secret}!`), /password authentication failed/],
    ['there is no such role', () => urlOf('nobody', secret), /password authentication failed|does not exist/],
    ['there is no such database', () => urlOf(role(), secret, 'nowhere'), /"nowhere" does not exist/],
  ])('connecting is refused, with the name of the setting and no secret, when %s', async (_, url, text) => {
    const error = await join({ connectionString: url(), schema: 'ledger' }).catch(
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringMatching(text),
      hint: expect.stringContaining('databases.ledger.connectionString'),
    });
    expect(allOf(error)).toContain('databases.ledger');
    expect(allOf(error)).not.toContain(secret);
  });

  it.each([
    ['there is no such schema', 'elsewhere', /databases.ledger: there is no schema "elsewhere"/],
    [
      'the schema is not migrated',
      'bare',
      /databases.ledger: schema "bare" has no wh_receive and no wh_listens/,
    ],
  ])('connecting is refused, with the command that helps, when %s', async (_, schema, text) => {
    await expect(join({ pool: far.pool, schema })).rejects.toMatchObject({
      code: 'NOT_MIGRATED',
      message: expect.stringMatching(text),
      hint: expect.stringContaining(`whizbang migrate --schema ${schema}`),
    });
  });

  it('connecting is refused when a version that is too old has migrated the schema', async () => {
    await far.pool.query('alter function ledger.wh_listens(text[]) rename to wh_listens_not_yet');
    try {
      await expect(join({ pool: far.pool, schema: 'ledger' })).rejects.toMatchObject({
        code: 'NOT_MIGRATED',
        message: expect.stringMatching(
          /has no wh_listens: it is not migrated, or by a version that is too old/,
        ),
      });
    } finally {
      await far.pool.query('alter function ledger.wh_listens_not_yet(text[]) rename to wh_listens');
    }
  });

  it('connecting is refused while a grant is missing, and the grants of the error are all that is needed', async () => {
    const entry = { connectionString: urlOf(role(), secret), schema: 'ledger' };
    const error = await join(entry).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: 'PERMISSION_DENIED',
      details: { role: role(), grants: expect.any(Array) },
    });

    for (const grant of (error as { details: { grants: string[] } }).details.grants)
      await far.pool.query(grant);
    const connection = await join(entry);
    const sent = message('nobody');
    await connection.send([sent], never);
    await connection.close();
  });

  it('an engine that is known not to work is refused', async () => {
    // Only the text is that engine's: none of them can be had here.
    const pool = sayingVersion(far.pool, 'PostgreSQL 11.2-YB-2.18.0.0-b0 on x86_64-pc-linux-gnu');
    await expect(join({ pool, schema: 'ledger' })).rejects.toMatchObject({
      code: 'ENGINE_UNSUPPORTED',
      message: expect.stringMatching(/databases.ledger is YugabyteDB/),
    });
  });

  it('the function for changing credentials is called again when a connection is refused', async () => {
    const changing = `changing_${process.pid}`;
    await far.pool.query(`
      create role ${changing} login password 'first' in role ${role()};
      grant usage on schema ledger to ${changing};
      grant execute on function ledger.wh_receive(jsonb), ledger.wh_listens(text[]) to ${changing};
      insert into ledger.wh_subscriptions (address, instance_id) values ('Booked', gen_random_uuid())`);
    let asked = 0;
    const connectionString = async () => urlOf(changing, ++asked === 1 ? 'first' : 'second');
    const connection = await join({ connectionString, schema: 'ledger' });
    try {
      await far.pool.query(`
        alter role ${changing} password 'second';
        select pg_terminate_backend(pid) from pg_stat_activity where usename = '${changing}'`);
      const sent = message('Booked');
      await eventually(async () => {
        const [outcome] = await connection.send([sent], never);
        expect(outcome).toMatchObject({ kind: 'settled' });
      });
      const { rowCount } = await far.pool.query('select from ledger.wh_inbox where message_id = $1', [
        sent.messageId,
      ]);
      expect([rowCount, asked]).toEqual([1, 2]);
    } finally {
      await connection.close();
      await far.pool.query(`drop owned by ${changing}; drop role ${changing}`);
    }
  });

  it('closing ends the connections of its own pool, and leaves a pool of the user alone', async () => {
    const own = await join({
      connectionString: far.connectionString.concat('?application_name=closing'),
      schema: 'ledger',
    });
    const count = async () =>
      (await far.pool.query(`select from pg_stat_activity where application_name = 'closing'`)).rowCount;
    await own.send([message('Booked')], never);
    expect(await count()).toBeLessThanOrEqual(2);
    await own.close();
    await eventually(async () => expect(await count()).toBe(0));

    const pool = new pg.Pool({ connectionString: far.connectionString, max: 1 });
    await (await join({ pool, schema: 'ledger' })).close();
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });
});

/** A pool whose server says that it is another engine. */
function sayingVersion(pool: pg.Pool, version: string) {
  return {
    connect: async () => {
      const client = await pool.connect();
      const query = async (text: string, values?: unknown[]) =>
        client.query(text.replace('version()', `'${version}'::text`), values);
      return { query, release: () => client.release() };
    },
  };
}

describe('Options of postgresTransport', () => {
  const fine = { connectionString: 'postgres://a@b/c' };

  it.each([
    ['an unknown option', { database: {} }, 'database'],
    ['databases that are a list', { databases: [fine] }, 'databases'],
    ['an entry that is a text', { databases: { ledger: fine.connectionString } }, 'databases.ledger'],
    ['an entry without a connection', { databases: { ledger: {} } }, 'databases.ledger.connectionString'],
    [
      'an entry with two',
      { databases: { ledger: { ...fine, pool: {} } } },
      'databases.ledger.connectionString',
    ],
    [
      'a text that is no URL',
      { databases: { ledger: { connectionString: secret } } },
      'databases.ledger.connectionString',
    ],
    ['a pool that is none', { databases: { ledger: { pool: {} } } }, 'databases.ledger.pool'],
    [
      'a pool with ssl',
      { databases: { ledger: { pool: { connect() {} }, ssl: true } } },
      'databases.ledger.ssl',
    ],
    ['a schema that is none', { databases: { ledger: { ...fine, schema: '' } } }, 'schema'],
    ['an unknown key of an entry', { databases: { ledger: { ...fine, shema: 'a' } } }, 'shema'],
    ['cells that are no list', { databases: { a: fine }, cells: { orders: 'a' } }, 'cells.orders'],
    ['cells that are empty', { databases: { a: fine }, cells: { orders: [] } }, 'cells.orders'],
    ['two cells without an entry', { databases: { a: fine }, cells: { orders: ['b', 'c'] } }, 'cells.orders'],
    [
      'an entry with the name of a divided service',
      { databases: { orders: fine }, cells: { orders: ['orders'] } },
      'cells.orders',
    ],
  ])('postgresTransport refuses %s, and names the option', (_, options, option) => {
    const make = () => postgresTransport(options as never);
    expect(make).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', details: expect.objectContaining({ option }) }),
    );
    expect(make).not.toThrow(secret);
  });

  it.each([
    ['a cell that is no entry', 'shop', { databases: { a: fine }, cells: { orders: ['a', 'b'] } }],
    ['a cell that does not know which it is', 'orders', { databases: { a: fine }, cells: { orders: ['a'] } }],
  ])('connecting with %s is refused', async (_, service, options) => {
    const transport = postgresTransport(options);
    const joining = joinAs(near, service, { pool: near.pool, transport });
    await expect(joining).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      details: { option: 'cells.orders' },
    });
  });

  it('with other databases, a service sends nothing straight to its own inbox: they may listen, too', () => {
    expect(postgresTransport().sendsDirectly).toBe(true);
    expect(postgresTransport({ databases: { ledger: fine } }).sendsDirectly).toBeUndefined();
  });
});
