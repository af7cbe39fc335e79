import pg from 'pg';
import { migrate } from '../migrate/index.js';
import { type KitServer, useServer, type WhichServer } from './kit-server.js';

/** The migrated database of one kit. */
export interface KitDatabase {
  readonly connectionString: string;
  readonly pool: pg.Pool;
}

export interface OwnedDatabase extends KitDatabase {
  /** Drops the database and ends every connection to it. */
  drop(): Promise<void>;
}

/** Creates the tables that receptors write to. */
export type Prepare = (database: KitDatabase) => Promise<unknown>;

/** Clones, in some 20 ms, a database that is migrated and prepared once in a process. */
export async function createKitDatabase(
  which: WhichServer,
  schema: string,
  prepare: Prepare | undefined,
): Promise<OwnedDatabase> {
  const { server, release } = await useServer(which);
  try {
    const template = await templateOf(server, schema, prepare);
    const name = server.newName();
    await server.admin.query(`create database ${name} template ${template} strategy file_copy`);
    const database = openDatabase(server, name, 20);
    return {
      ...database,
      drop: async () => {
        const ended = database.pool.end();
        await server.admin.query(`drop database if exists ${name} with (force)`);
        release();
        await ended;
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

const keys = new WeakMap<Prepare, Map<string, object>>();

/** The key of a template: the same object for the same schema and the same function. */
function keyOf(schema: string, prepare: Prepare | undefined): unknown {
  if (prepare === undefined) return schema;
  const ofPrepare = keys.get(prepare) ?? new Map<string, object>();
  keys.set(prepare, ofPrepare);
  const key = ofPrepare.get(schema) ?? {};
  ofPrepare.set(schema, key);
  return key;
}

function templateOf(server: KitServer, schema: string, prepare: Prepare | undefined): Promise<string> {
  const key = keyOf(schema, prepare);
  let template = server.templates.get(key);
  if (template === undefined) {
    template = createTemplate(server, schema, prepare);
    server.templates.set(key, template);
    // A failure is not kept, because the next try may work. The caller gets the error from the returned
    // promise.
    template.catch(() => server.templates.delete(key));
  }
  return template;
}

async function createTemplate(
  server: KitServer,
  schema: string,
  prepare: Prepare | undefined,
): Promise<string> {
  const name = server.newName();
  await server.admin.query(`create database ${name} template template0`);
  const database = openDatabase(server, name, 5);
  try {
    await migrate({ connectionString: database.connectionString, schema });
    await prepare?.(database);
  } finally {
    await database.pool.end();
  }
  // A database with open connections cannot be cloned, and a connection that was ended takes a moment to
  // close.
  await server.admin.query(
    'select pg_terminate_backend(pid, 2000) from pg_stat_activity where datname = $1',
    [name],
  );
  return name;
}

function openDatabase(server: KitServer, name: string, max: number): KitDatabase {
  const connectionString = server.urlOf(name);
  const pool = new pg.Pool({ connectionString, max });
  // Dropping the database ends idle connections. That is no error of the test.
  pool.on('error', () => {});
  return { connectionString, pool };
}
