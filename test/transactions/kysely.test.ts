import * as kysely28 from 'kysely';
import * as kysely29 from 'kysely-0.29';
import { describeTransactions } from './conformance.js';
import { openPool } from './open-pool.js';

interface Database {
  orders: { id: string; note: string };
}

const versions = { 'Kysely 0.28': kysely28, 'Kysely 0.29': kysely29 as unknown as typeof kysely28 };

for (const [name, { CamelCasePlugin, Kysely, ParseJSONResultsPlugin, PostgresDialect }] of Object.entries(
  versions,
)) {
  describeTransactions({
    name,
    nested: false, // its savepoints are those of a controlled transaction, see below
    seesItsEnd: false,
    async connect(connectionString) {
      const db = new Kysely<Database>({
        dialect: new PostgresDialect({ pool: openPool(connectionString) }),
        plugins: [new CamelCasePlugin(), new ParseJSONResultsPlugin()],
      });
      return {
        transaction(work, { serializable } = {}) {
          const builder = db.transaction();
          return (serializable ? builder.setIsolationLevel('serializable') : builder).execute((tx) =>
            work(tx, {
              insertOrder: (id) => tx.insertInto('orders').values({ id, note: 'by Kysely' }).execute(),
            }),
          );
        },
        notTransactions: { db },
        close: () => db.destroy(),
      };
    },
  });

  describeTransactions({
    name: `${name}, controlled`,
    async connect(connectionString) {
      const db = new Kysely<Database>({
        dialect: new PostgresDialect({ pool: openPool(connectionString) }),
      });
      return {
        async transaction(work, { serializable } = {}) {
          const builder = db.startTransaction();
          const tx = await (serializable ? builder.setIsolationLevel('serializable') : builder).execute();
          try {
            const result = await work(tx, {
              insertOrder: (id) => tx.insertInto('orders').values({ id, note: 'by Kysely' }).execute(),
              async nested(inner) {
                const savepoint = await tx.savepoint('inner_one').execute();
                try {
                  return await inner(savepoint);
                } catch (error) {
                  await savepoint.rollbackToSavepoint('inner_one').execute();
                  throw error;
                }
              },
            });
            await tx.commit().execute();
            return result;
          } catch (error) {
            await tx.rollback().execute();
            throw error;
          }
        },
        notTransactions: { db },
        close: () => db.destroy(),
      };
    },
  });
}
