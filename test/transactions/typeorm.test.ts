import { DataSource, type EntityManager, EntitySchema } from 'typeorm';
import { describeTransactions } from './conformance.js';
import type { UsersOwn } from './subject.js';

const Order = new EntitySchema<{ id: string; note: string }>({
  name: 'Order',
  tableName: 'orders',
  columns: { id: { type: 'uuid', primary: true }, note: { type: 'text' } },
});

async function open(url: string): Promise<DataSource> {
  return new DataSource({ type: 'postgres', url, entities: [Order], poolSize: 5 }).initialize();
}

const ownOf = (manager: EntityManager): UsersOwn => ({
  insertOrder: (id) => manager.insert(Order, { id, note: 'by TypeORM' }),
  nested: (work) => manager.transaction((inner) => work(inner)),
});

/** What of the transaction the user passes. */
const passed: Record<string, (manager: EntityManager) => unknown> = {
  'TypeORM, by its EntityManager': (manager) => manager,
  'TypeORM, by a repository': (manager) => manager.getRepository(Order),
};

for (const [name, pass] of Object.entries(passed)) {
  describeTransactions({
    name,
    async connect(connectionString) {
      const dataSource = await open(connectionString);
      return {
        transaction: (work, { serializable } = {}) =>
          dataSource.transaction(serializable ? 'SERIALIZABLE' : 'READ COMMITTED', (manager) =>
            work(pass(manager), ownOf(manager)),
          ),
        notTransactions: {
          dataSource,
          'the manager of the data source': dataSource.manager,
          'a repository of the data source': dataSource.getRepository(Order),
        },
        close: () => dataSource.destroy(),
      };
    },
  });
}

describeTransactions({
  name: 'TypeORM, by its QueryRunner',
  async connect(connectionString) {
    const dataSource = await open(connectionString);
    return {
      async transaction(work, { serializable } = {}) {
        const runner = dataSource.createQueryRunner();
        await runner.startTransaction(serializable ? 'SERIALIZABLE' : undefined);
        try {
          const result = await work(runner, ownOf(runner.manager));
          await runner.commitTransaction();
          return result;
        } catch (error) {
          await runner.rollbackTransaction();
          throw error;
        } finally {
          await runner.release();
        }
      },
      notTransactions: { 'a runner that has not started one': dataSource.createQueryRunner() },
      close: () => dataSource.destroy(),
    };
  },
});
