// A database of its own for every test: in: nothing, or which template; out: a connection string, a pool, clients.
// Called by the tests. It never shares anything between two databases but the server; drop() ends every connection.
import pg from 'pg';
import { inject } from 'vitest';
import { databaseUrl } from './database-url.js';
import { searchPath } from './search-path.js';

export interface TestDatabase extends AsyncDisposable {
  readonly name: string;
  readonly connectionString: string;
  readonly pool: pg.Pool;
  /** A connection outside the pool, closed by `drop()` if the test has not closed it. */
  connect(): Promise<pg.Client>;
  drop(): Promise<void>;
}

interface TestDatabaseOptions {
  /** `migrated` (the default): with the current schema. `empty`: as PostgreSQL makes it. */
  readonly template?: 'migrated' | 'empty';
}

const admin = new pg.Pool({ connectionString: inject('serverUrl'), max: 2, allowExitOnIdle: true });
let created = 0;

export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const migrated = inject('templateDatabase');
  const template = options.template === 'empty' ? 'template0' : migrated;
  const name = `${migrated}_${process.pid}_${++created}`;
  await admin.query(`create database ${name} template ${template} strategy file_copy`);
  await admin.query(`alter database ${name} set search_path = ${searchPath}`);
  return openTestDatabase(name, databaseUrl(inject('serverUrl'), name), async () => {
    await admin.query(`drop database if exists ${name} with (force)`);
  });
}

/** `end` ends every connection that is left. */
export function openTestDatabase(
  name: string,
  connectionString: string,
  end: () => Promise<void>,
): TestDatabase {
  const pool = new pg.Pool({ connectionString, max: 20 });
  const clients: pg.Client[] = [];
  // Dropping with force ends connections that are still open. That is no error of the test.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));

  const drop = async (): Promise<void> => {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
    const ended = pool.end();
    await end();
    await ended;
  };
  return {
    name,
    connectionString,
    pool,
    connect: async () => {
      const client = new pg.Client({ connectionString });
      client.on('error', () => undefined);
      await client.connect();
      clients.push(client);
      return client;
    },
    drop,
    [Symbol.asyncDispose]: drop,
  };
}
