import { sql } from 'drizzle-orm';
import { drizzle as overPg } from 'drizzle-orm/node-postgres';
import { drizzle as overPostgresJs } from 'drizzle-orm/postgres-js';
import { sql as sqlRc } from 'drizzle-orm-rc';
import { drizzle as rcOverPg } from 'drizzle-orm-rc/node-postgres';
import { drizzle as rcOverPostgresJs } from 'drizzle-orm-rc/postgres-js';
import postgres from 'postgres';
import { describeTransactions } from './conformance.js';
import { openPool } from './open-pool.js';
import type { Connected, UsersOwn } from './subject.js';

/** What the four have in common; their types have little. */
interface Transaction {
  execute(query: unknown): PromiseLike<unknown>;
  transaction<T>(work: (tx: Transaction) => Promise<T>, config?: object): Promise<T>;
}
type Sql = (strings: TemplateStringsArray, ...values: unknown[]) => unknown;

const openPg = (connectionString: string) => {
  const client = openPool(connectionString);
  return { client, close: () => client.end() };
};
const openPostgresJs = (connectionString: string) => {
  const client = postgres(connectionString, { max: 5 });
  return { client, close: () => client.end() };
};

describeTransactions({
  name: 'Drizzle 0.45 over pg',
  async connect(connectionString) {
    const { client, close } = openPg(connectionString);
    return connected(overPg(client) as unknown as Transaction, sql, close);
  },
});

describeTransactions({
  name: 'Drizzle 0.45 over postgres.js',
  seesItsEnd: false,
  async connect(connectionString) {
    const { client, close } = openPostgresJs(connectionString);
    return connected(overPostgresJs(client) as unknown as Transaction, sql, close);
  },
});

describeTransactions({
  name: 'Drizzle 1.0 over pg',
  async connect(connectionString) {
    const { client, close } = openPg(connectionString);
    return connected(rcOverPg({ client }) as unknown as Transaction, sqlRc, close);
  },
});

describeTransactions({
  name: 'Drizzle 1.0 over postgres.js',
  seesItsEnd: false,
  async connect(connectionString) {
    const { client, close } = openPostgresJs(connectionString);
    return connected(rcOverPostgresJs({ client }) as unknown as Transaction, sqlRc, close);
  },
});

function connected(db: Transaction, sqlOf: Sql, close: () => Promise<unknown>): Connected {
  const own = (tx: Transaction): UsersOwn => ({
    insertOrder: async (id) => tx.execute(sqlOf`insert into orders values (${id}, 'by Drizzle')`),
    nested: (work) => tx.transaction(work),
  });
  return {
    transaction: (work, { serializable } = {}) =>
      db.transaction(
        (tx) => work(tx, own(tx)),
        serializable ? { isolationLevel: 'serializable' } : undefined,
      ),
    notTransactions: { db },
    close,
  };
}
