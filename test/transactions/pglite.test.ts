import { PGlite } from '@electric-sql/pglite';
import { migrate } from '../../src/migrate/index.js';
import { searchPath } from '../support/search-path.js';
import { describeTransactions } from './conformance.js';

let pglite: PGlite;

describeTransactions({
  name: 'PGlite',
  nested: false,
  async openDatabase() {
    pglite = await PGlite.create();
    await pglite.exec(`set search_path = ${searchPath}`);
    const client = {
      // Only `exec` takes several statements at once, which migrations are.
      query: async (text: string, values?: unknown[]) =>
        values === undefined
          ? ((await pglite.exec(text)).at(-1) ?? { rows: [] })
          : pglite.query(text, values),
    };
    await migrate({ client });
    return { ...client, [Symbol.asyncDispose]: () => pglite.close() };
  },
  async connect() {
    return {
      transaction: (work, { serializable } = {}) =>
        pglite.transaction(async (tx) => {
          if (serializable) await tx.query('set transaction isolation level serializable');
          return work(tx, {
            insertOrder: (id) => tx.query("insert into orders values ($1, 'by PGlite')", [id]),
          });
        }),
      notTransactions: { pglite },
      close: async () => {},
    };
  },
});
