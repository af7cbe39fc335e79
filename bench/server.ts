// The PostgreSQL on which everything is measured: DATABASE_URL if it is set, else the embedded server with
// durable settings (fsync on). Every contender gets a database of its own, dropped at the end; nothing
// outside databases named whizbang_bench_* is touched.

import pg from 'pg';
import { startEmbeddedPostgres } from '../src/embedded/index.js';
import { migrate } from '../src/migrate/index.js';

export interface BenchDatabase {
  readonly connectionString: string;
  connect(): Promise<pg.Client>;
  drop(): Promise<void>;
}

export interface BenchServer {
  readonly version: string;
  /** Settings that decide what a commit costs, for the header of the report. */
  readonly settings: Record<string, string>;
  createDatabase(): Promise<BenchDatabase>;
  /** Creates a database with the whizbang schema. */
  createMigratedDatabase(): Promise<BenchDatabase>;
  stop(): Promise<void>;
}

const reportedSettings = [
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'shared_buffers',
  'max_wal_size',
];

export async function openServer(): Promise<BenchServer> {
  const { connectionString, stop } = await findServer();
  const admin = await connectTo(connectionString);
  const settings: Record<string, string> = {};
  for (const name of reportedSettings) settings[name] = await setting(admin, name);
  const open = new Set<string>();
  let number = 0;

  const createDatabase = async (): Promise<BenchDatabase> => {
    const name = `whizbang_bench_${process.pid}_${++number}`;
    await admin.query(`create database ${name} template template0`);
    open.add(name);
    const url = new URL(connectionString);
    url.pathname = `/${name}`;
    return {
      connectionString: url.href,
      connect: () => connectTo(url.href),
      drop: async () => {
        open.delete(name);
        await admin.query(`drop database if exists ${name} with (force)`);
      },
    };
  };

  return {
    version: await setting(admin, 'server_version'),
    settings,
    createDatabase,
    createMigratedDatabase: async () => {
      const database = await createDatabase();
      await migrate({ connectionString: database.connectionString });
      await admin.query(
        `alter database ${new URL(database.connectionString).pathname.slice(1)} set search_path = public, whizbang`,
      );
      return database;
    },
    stop: async () => {
      for (const name of open) await admin.query(`drop database if exists ${name} with (force)`);
      await admin.end();
      await stop();
    },
  };
}

async function findServer(): Promise<{ connectionString: string; stop: () => Promise<void> }> {
  const given = process.env.DATABASE_URL;
  if (given !== undefined && given !== '') return { connectionString: given, stop: async () => {} };
  const embedded = await startEmbeddedPostgres({ durable: true });
  return { connectionString: embedded.connectionString, stop: () => embedded.stop() };
}

async function connectTo(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return client;
}

async function setting(client: pg.Client, name: string): Promise<string> {
  const { rows } = await client.query<{ value: string }>('select current_setting($1) as value', [name]);
  return rows[0]?.value ?? '';
}
