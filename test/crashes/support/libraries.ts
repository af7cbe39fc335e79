// The libraries whose transactions the crash tests give to receptors: each as its users would set it up.
// In: a connection string. Out: what goes into the option `transaction`, and the end of it.
import { drizzle } from 'drizzle-orm/node-postgres';
import knexModule from 'knex';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import postgres from 'postgres';
import { Sequelize } from 'sequelize';
import { DataSource } from 'typeorm';

type Work<T> = (tx: unknown) => Promise<T>;

interface Library {
  readonly transaction: <T>(work: Work<T>) => Promise<T>;
  /** Does not wait for silent connections. */
  readonly close: () => Promise<void>;
}

/** Who borrows a client has to listen for its end, or that ends the process. Libraries do not, so the pool does. */
function openPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 5 });
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

const closing = (end: () => PromiseLike<unknown>) => async () => void end().then(undefined, () => {});

export const libraries: Readonly<Record<string, (connectionString: string) => Promise<Library>>> = {
  'node-postgres': async (connectionString) => {
    const pool = openPool(connectionString);
    return {
      transaction: async (work) => {
        const client = await pool.connect();
        try {
          await client.query('begin');
          const result = await work(client);
          await client.query('commit');
          return result;
        } catch (error) {
          await client.query('rollback');
          throw error;
        } finally {
          client.release();
        }
      },
      close: closing(() => pool.end()),
    };
  },
  Drizzle: async (connectionString) => {
    const pool = openPool(connectionString);
    const db = drizzle(pool);
    return { transaction: (work) => db.transaction(work), close: closing(() => pool.end()) };
  },
  Kysely: async (connectionString) => {
    const db = new Kysely({ dialect: new PostgresDialect({ pool: openPool(connectionString) }) });
    return { transaction: (work) => db.transaction().execute(work), close: closing(() => db.destroy()) };
  },
  Knex: async (connectionString) => {
    const knex = knexModule({ client: 'pg', connection: connectionString, pool: { max: 5 } });
    return { transaction: (work) => knex.transaction(work), close: closing(() => knex.destroy()) };
  },
  'postgres.js': async (connectionString) => {
    const sql = postgres(connectionString, { max: 5 });
    return {
      transaction: <T>(work: Work<T>) => sql.begin(work) as Promise<T>,
      // Waited for: a connection that breaks under its transaction ends the process otherwise (3.4.9, `nextWrite`).
      close: async () => sql.end({ timeout: 0 }),
    };
  },
  TypeORM: async (connectionString) => {
    const source = await new DataSource({
      type: 'postgres',
      url: connectionString,
      poolSize: 5,
    }).initialize();
    return { transaction: (work) => source.transaction(work), close: closing(() => source.destroy()) };
  },
  Sequelize: async (connectionString) => {
    const sequelize = new Sequelize(connectionString, { logging: false, pool: { max: 5 } });
    return { transaction: (work) => sequelize.transaction(work), close: closing(() => sequelize.close()) };
  },
};
