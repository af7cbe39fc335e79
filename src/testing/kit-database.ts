import pg from 'pg';
import { migrate } from '../migrate/index.js';
import { type KitServer, useServer, type WhichServer } from './kit-server.js';

/** A database of its own, migrated, for one kit. */
export interface KitDatabase {
  readonly connectionString: string;
  readonly pool: pg.Pool;
}

export interface OwnedDatabase extends KitDatabase {
  /** Ends every connection to it. */
  drop(): Promise<void>;
}

/** Makes the tables that receptors write to. */
export type Prepare = (database: KitDatabase) => Promise<unknown>;

/** A clone, in some 20 ms, of a database that is migrated and prepared once in a process. */
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

/** The same object for the same schema and the same function. */
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
    // What failed once may work the next time; whoever asked is told.
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
  // Nobody can clone a database to which somebody is connected, and a connection that was ended takes a moment to go.
  await server.admin.query(
    'select pg_terminate_backend(pid, 2000) from pg_stat_activity where datname = $1',
    [name],
  );
  return name;
}

function openDatabase(server: KitServer, name: string, max: number): KitDatabase {
  const connectionString = server.urlOf(name);
  const pool = new pg.Pool({ connectionString, max });
  // Dropping ends connections that idle. That is no error of the test.
  pool.on('error', () => {});
  return { connectionString, pool };
}
