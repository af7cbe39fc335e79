import knexModule, { type Knex } from 'knex';
import { describeTransactions } from './conformance.js';
import type { UsersOwn } from './subject.js';

/** As packages that turn snake_case into camelCase do it. */
const camelCase = (result: { rows?: object[] }) => {
  const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const renamed = result.rows?.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [camel(name), value])),
  );
  return renamed === undefined ? result : { ...result, rows: renamed };
};

const settings: Record<string, Knex.Config> = {
  Knex: {},
  'Knex that renames columns': { postProcessResponse: camelCase },
};

for (const [name, config] of Object.entries(settings)) {
  describeTransactions({
    name,
    async connect(connectionString) {
      const knex = knexModule({ client: 'pg', connection: connectionString, pool: { max: 5 }, ...config });
      return {
        transaction: (work, { serializable } = {}) =>
          knex.transaction(
            (tx) => work(tx, ownOf(tx)),
            serializable ? { isolationLevel: 'serializable' } : undefined,
          ),
        notTransactions: { knex },
        close: () => knex.destroy(),
      };
    },
  });
}

function ownOf(tx: Knex.Transaction): UsersOwn {
  return {
    insertOrder: async (id) => tx('orders').insert({ id, note: 'by Knex' }),
    nested: (work) => tx.transaction((inner) => work(inner)),
  };
}
