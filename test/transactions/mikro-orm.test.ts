import { EntitySchema, type IsolationLevel, MikroORM, type SqlEntityManager } from '@mikro-orm/postgresql';
import { describeTransactions } from './conformance.js';
import type { UsersOwn } from './subject.js';

interface Order {
  id: string;
  note: string;
}
const Order = new EntitySchema<Order>({
  name: 'Order',
  tableName: 'orders',
  properties: { id: { type: 'uuid', primary: true }, note: { type: 'text' } },
});
const level = { isolationLevel: 'serializable' as IsolationLevel };

const ownOf = (em: SqlEntityManager): UsersOwn => ({
  async insertOrder(id) {
    em.create(Order, { id, note: 'by MikroORM' });
    await em.flush();
  },
  nested: (work) => em.transactional((inner) => work(inner)),
});

async function open(clientUrl: string): Promise<MikroORM> {
  return MikroORM.init({ clientUrl, entities: [Order], pool: { max: 5 } });
}

describeTransactions({
  name: 'MikroORM 6',
  async connect(connectionString) {
    const orm = await open(connectionString);
    return {
      transaction: (work, { serializable } = {}) =>
        orm.em.fork().transactional((em) => work(em, ownOf(em)), serializable ? level : {}),
      notTransactions: { em: orm.em, 'a fork': orm.em.fork() },
      close: () => orm.close(),
    };
  },
});

describeTransactions({
  name: 'MikroORM 6, begun by hand',
  async connect(connectionString) {
    const orm = await open(connectionString);
    return {
      async transaction(work, { serializable } = {}) {
        const em = orm.em.fork();
        await em.begin(serializable ? level : {});
        try {
          const result = await work(em, ownOf(em));
          await em.commit();
          return result;
        } catch (error) {
          await em.rollback();
          throw error;
        }
      },
      notTransactions: { 'a fork': orm.em.fork() },
      close: () => orm.close(),
    };
  },
});
