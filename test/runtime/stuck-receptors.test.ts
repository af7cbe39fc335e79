import { describe, expect, it } from 'vitest';
import { inProcessTransport, receptor } from '../../src/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { arrive } from './arrivals.js';
import { OrderPlaced, service } from './service.js';

async function openTransactions(db: TestDatabase): Promise<number> {
  const { rows } = await db.pool.query(
    `select 1 from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
  );
  return rows.length;
}

describe('A receptor that never returns', () => {
  it('the transaction of a receptor that never returns is rolled back when its instance stops', async () => {
    await using db = await createTestDatabase();
    await db.pool.query('create table stock (id int, n int); insert into stock values (1, 0)');
    const take = 'update stock set n = n + 1 where id = 1';
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    const hanging = receptor(OrderPlaced, async (_, { tx }) => {
      await tx.query(take);
      await new Promise(() => {});
    });
    const stuck = service(db, { receptors: [hanging], transport: inProcessTransport() });
    await stuck.start();
    await eventually(async () => expect(await openTransactions(db)).toBe(1));
    await stuck.stop({ seconds: 0 });
    expect((await db.pool.query('select attempts, instance_id from wh_inbox')).rows).toEqual([
      { attempts: 0, instance_id: null },
    ]);
    await eventually(async () => expect(await openTransactions(db)).toBe(0));

    const working = receptor(OrderPlaced, async (_, { tx }) => void (await tx.query(take)));
    await using other = service(db, { receptors: [working], transport: inProcessTransport() });
    await other.start();
    await eventually(async () => expect((await db.pool.query('select 1 from wh_inbox')).rows).toEqual([]));
    expect((await db.pool.query('select n from stock')).rows).toEqual([{ n: 1 }]);
  });

  it('a receptor that waits for its own instance to stop is given back, and the instance stops', async () => {
    await using db = await createTestDatabase();
    let stops: Promise<void> | undefined;
    const stopping = receptor(OrderPlaced, async () => {
      stops = shop.stop({ seconds: 0.2 });
      await stops;
    });
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    const shop = service(db, { receptors: [stopping], transport: inProcessTransport() });
    await shop.start();
    await eventually(() => expect(stops).toBeDefined());
    await stops;
    const { rows } = await db.pool.query('select attempts, instance_id from wh_inbox');
    expect(rows).toEqual([{ attempts: 0, instance_id: null }]);
    expect((await db.pool.query('select 1 from wh_service_instances')).rows).toEqual([]);
  });

  it('a receptor that throws while its statement still runs fails with its own error', async () => {
    await using db = await createTestDatabase();
    const failures: unknown[] = [];
    const other = await db.connect();
    await other.query('create table locked (n int)');
    await other.query('begin; lock table locked');
    const careless = receptor(OrderPlaced, { retry: { attempts: 2 } }, (_, { tx }) => {
      void tx.query('insert into locked values (1)');
      throw new Error('no such customer');
    });
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    await using shop = service(db, { receptors: [careless], transport: inProcessTransport() });
    shop.on('failure', ({ error }) => failures.push(error));
    await shop.start();
    await eventually(() => expect(failures).toMatchObject([{ message: 'no such customer' }]));
    await other.query('rollback');
  });
});
