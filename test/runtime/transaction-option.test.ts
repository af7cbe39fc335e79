import { describe, expect, it } from 'vitest';
import type { Queryable } from '../../src/database/index.js';
import { inProcessTransport, receptor, type WhizbangOptions } from '../../src/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { arrive, deadLetters } from './arrivals.js';
import { OrderPlaced, service } from './service.js';

type Transaction = NonNullable<WhizbangOptions['transaction']>;
type Work<T> = (tx: Queryable) => Promise<T>;

/** A transaction of the test's, which ends as the test says. */
function transactionOf(
  db: TestDatabase,
  end: <T>(client: Queryable, work: Work<T>) => Promise<T | undefined>,
): Transaction {
  return (async (work: Work<unknown>) => {
    const client = await db.connect();
    try {
      await client.query('begin');
      return await end(client, work);
    } finally {
      await client.end();
    }
  }) as Transaction;
}

describe('A transaction of the user’s', () => {
  it('a message is retried in order when the transaction of the user swallows its error', async () => {
    await using db = await createTestDatabase();
    const steps: number[] = [];
    const onPlaced = receptor(OrderPlaced, { retry: { firstDelaySeconds: 0.01 } }, ({ step }) => {
      steps.push(step);
      if (steps.length === 1) throw new Error('once');
    });
    for (const step of [1, 2]) await arrive(db, 'OrderPlaced', { orderId: 'a', step });
    const transaction = transactionOf(db, async (client, work) => {
      try {
        const result = await work(client);
        await client.query('commit');
        return result;
      } catch {
        await client.query('rollback');
        return undefined;
      }
    });
    await using shop = service(db, { receptors: [onPlaced], transport: inProcessTransport(), transaction });
    await shop.start();
    await eventually(() => expect(steps).toHaveLength(3));
    expect(steps).toEqual([1, 1, 2]);
  });

  it('a message becomes a dead letter when the transaction of the user always fails after the receptor', async () => {
    await using db = await createTestDatabase();
    const onPlaced = receptor(OrderPlaced, { retry: { attempts: 2, firstDelaySeconds: 0.01 } }, () => {});
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    const transaction = transactionOf(db, async (client, work) => {
      await work(client);
      throw new Error('a value is required');
    });
    await using shop = service(db, { receptors: [onPlaced], transport: inProcessTransport(), transaction });
    await shop.start();
    const [letter] = await eventually(async () => {
      const letters = await deadLetters(db);
      expect(letters).toHaveLength(1);
      return letters;
    });
    expect(letter).toMatchObject({ attempts: 2 });
    expect(letter?.error).toContain('a value is required');
  });

  it('a transaction of the user that runs its work twice has its effect and its messages once', async () => {
    await using db = await createTestDatabase();
    await db.pool.query('create table effects (step int)');
    let runs = 0;
    const onPlaced = receptor(OrderPlaced, async ({ step }, { tx, publish }) => {
      runs++;
      await tx.query('insert into effects values ($1)', [step]);
      await publish(OrderPlaced({ orderId: 'b', step: step + 1 }), { delaySeconds: 3_600, holdStream: true });
    });
    await arrive(db, 'OrderPlaced', { orderId: 'a', step: 1 });
    const transaction = transactionOf(db, async (client, work) => {
      await work(client);
      await client.query('rollback'); // as after a serialization failure
      await client.query('begin');
      const result = await work(client);
      await client.query('commit');
      return result;
    });
    await using shop = service(db, { receptors: [onPlaced], transport: inProcessTransport(), transaction });
    await shop.start();
    await eventually(async () => expect((await db.pool.query('select 1 from wh_inbox')).rows).toEqual([]));
    expect(runs).toBe(2);
    expect((await db.pool.query('select step from effects')).rows).toEqual([{ step: 1 }]);
    expect((await db.pool.query('select 1 from wh_outbox')).rows).toHaveLength(1);
  });

  it('a transaction of the user cannot commit what was written after the lease was lost', async () => {
    await using db = await createTestDatabase();
    await db.pool.query('create table effects (step int)');
    const onPlaced = receptor(OrderPlaced, async ({ step }, { tx }) => {
      await tx.query('insert into effects values ($1)', [step]);
      for (const table of ['wh_inbox', 'wh_active_streams']) {
        await db.pool.query(
          `update ${table} set instance_id = gen_random_uuid() where instance_id is not null`,
        );
      }
    });
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    const ends: unknown[] = [];
    const transaction = transactionOf(db, async (client, work) => {
      const result = await work(client).catch((error: unknown) => {
        ends.push(error);
        return undefined;
      });
      await client.query('commit');
      return result;
    });
    await using shop = service(db, { receptors: [onPlaced], transport: inProcessTransport(), transaction });
    await shop.start();
    await eventually(() => expect(ends).toMatchObject([{ code: 'LEASE_LOST' }]));
    await shop.stop();
    expect((await db.pool.query('select step from effects')).rows).toEqual([]);
  });
});
