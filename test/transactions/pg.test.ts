import pg from 'pg';
import { describeTransactions } from './conformance.js';
import { openPool } from './open-pool.js';
import type { UsersOwn } from './subject.js';

describeTransactions({
  name: 'pg',
  async connect(connectionString) {
    const pool = openPool(connectionString);
    const idle = new pg.Client({ connectionString });
    await idle.connect();
    return {
      async transaction(work, { serializable } = {}) {
        const client = await pool.connect();
        try {
          await client.query(serializable ? 'begin isolation level serializable' : 'begin');
          const result = await work(client, ownOf(client));
          await client.query('commit');
          return result;
        } catch (error) {
          await client.query('rollback');
          throw error;
        } finally {
          client.release();
        }
      },
      notTransactions: { pool, 'a client without a transaction': idle },
      close: () => Promise.all([pool.end(), idle.end()]),
    };
  },
});

function ownOf(client: pg.PoolClient): UsersOwn {
  return {
    insertOrder: (id) => client.query("insert into orders values ($1, 'by pg')", [id]),
    async nested(work) {
      await client.query('savepoint inner_one');
      try {
        return await work(client);
      } catch (error) {
        await client.query('rollback to savepoint inner_one');
        throw error;
      }
    },
  };
}
