import { DataTypes, Sequelize, Transaction } from 'sequelize';
import { describeTransactions } from './conformance.js';

describeTransactions({
  name: 'Sequelize',
  async connect(connectionString) {
    const sequelize = new Sequelize(connectionString, {
      logging: false,
      pool: { max: 5 },
      // Defaults of a user that would turn the results of every query into something else.
      query: { raw: false, nest: true },
      dialectOptions: { prependSearchPath: true },
    });
    const Order = sequelize.define(
      'Order',
      { id: { type: DataTypes.UUID, primaryKey: true }, note: DataTypes.TEXT },
      { tableName: 'orders', timestamps: false },
    );
    return {
      transaction: (work, { serializable } = {}) =>
        sequelize.transaction(
          serializable ? { isolationLevel: Transaction.ISOLATION_LEVELS.SERIALIZABLE } : {},
          (transaction) =>
            work(transaction, {
              insertOrder: (id) => Order.create({ id, note: 'by Sequelize' }, { transaction }),
              nested: (inner) => sequelize.transaction({ transaction }, (savepoint) => inner(savepoint)),
            }),
        ),
      notTransactions: { sequelize },
      close: () => sequelize.close(),
    };
  },
});
