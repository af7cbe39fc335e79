import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { inProcessTransport, receptor, type WhizbangError } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { arrive } from './arrivals.js';
import { OrderPlaced, PlaceOrder, service } from './service.js';

/** As small as an instance with two receptors at once may have it. */
function smallPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 6 });
  pool.on('error', () => {});
  return pool;
}

describe('When receptors have taken every connection of the pool', () => {
  it('an instance renews its leases, reports and stops though receptors hold every connection of the pool', async () => {
    await using db = await createTestDatabase();
    const pool = smallPool(db.connectionString);
    const taken: pg.PoolClient[] = [];
    const lost: unknown[] = [];
    let isOver = false;
    let letGo = () => {};
    const greedy = receptor(OrderPlaced, { transaction: false }, async () => {
      // All that there are now, and all that anybody gives back.
      for (let i = 0; i < 6; i++) {
        void pool.connect().then((client) => (isOver ? client.release() : taken.push(client)));
      }
      await new Promise<void>((resolve) => (letGo = resolve));
    });
    const shop = service(db, {
      connectionString: undefined,
      pool,
      receptors: [greedy],
      transport: inProcessTransport(),
      renewSeconds: 1,
    });
    shop.on('leaseLost', (messages) => lost.push(...messages));
    await shop.start();
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    const leaseEnd = async () => {
      const { rows } = await db.pool.query('select lease_expiry from wh_inbox where instance_id is not null');
      return (rows[0] as { lease_expiry: Date }).lease_expiry.getTime();
    };
    await eventually(() => expect(taken.length).toBeGreaterThanOrEqual(4));
    const before = await eventually(leaseEnd);
    await eventually(async () => expect(await leaseEnd()).toBeGreaterThan(before));
    expect(lost).toEqual([]);
    letGo();
    await eventually(async () => expect((await db.pool.query('select 1 from wh_inbox')).rows).toEqual([]));
    await shop.stop({ seconds: 1 });
    expect((await db.pool.query('select 1 from wh_service_instances')).rows).toEqual([]);
    isOver = true;
    for (const client of taken) client.release();
    await eventually(() => expect(pool.waitingCount).toBe(0));
    await pool.end();
  });

  it('messages that receptors send outside their transactions are stored though the pool is exhausted', async () => {
    await using db = await createTestDatabase();
    const pool = smallPool(db.connectionString);
    let sent = 0;
    const place = receptor(PlaceOrder, async ({ orderId }) => {
      await shop.send(PlaceOrder({ orderId }), { to: 'warehouse' });
      sent++;
    });
    const placed = receptor(OrderPlaced, async ({ orderId }) => {
      await Promise.all([1, 2, 3].map((step) => shop.invoke(PlaceOrder({ orderId, step }))));
    });
    await using shop = service(db, {
      connectionString: undefined,
      pool,
      receptors: [place, placed],
      transport: inProcessTransport(),
      listen: false,
    });
    for (const orderId of ['a', 'b']) await arrive(db, 'OrderPlaced', { orderId });
    await shop.start();
    await eventually(async () => expect((await db.pool.query('select 1 from wh_inbox')).rows).toEqual([]));
    expect(sent).toBe(6);
    await shop.stop();
    await pool.end();
  });

  it('a receptor that finds no connection is tried again, and no attempt is counted', async () => {
    await using db = await createTestDatabase();
    const pool = smallPool(db.connectionString);
    const attempts: number[] = [];
    const warnings: string[] = [];
    const warn = (_: object, message: string) => void warnings.push(message);
    const logger = { debug: () => {}, info: () => {}, warn, error: warn };
    const placed = receptor(OrderPlaced, (_, { attempt }) => void attempts.push(attempt));
    const shop = service(db, {
      connectionString: undefined,
      pool,
      receptors: [placed],
      transport: inProcessTransport(),
      retry: { attempts: 1 },
      logger,
    });
    await shop.start();
    const taken: pg.PoolClient[] = [];
    while (pool.totalCount < 6 || pool.idleCount > 0) taken.push(await pool.connect());
    let isOver = false;
    // And what the instance itself has at this moment, when it gives it back.
    for (let i = 0; i < 6; i++)
      void pool.connect().then((client) => (isOver ? client.release() : taken.push(client)));
    pool.options.connectionTimeoutMillis = 100; // from now on nobody waits longer, and nobody has one to open
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    await eventually(() => expect(warnings.length).toBeGreaterThan(5));
    expect(new Set(warnings)).toEqual(
      new Set(['No connection was available for a receptor; it will run again']),
    );
    isOver = true;
    for (const client of taken) client.release();
    await eventually(() => expect(attempts).toEqual([1]));
    await shop.stop();
    await pool.end();
  });

  it('a receptor that waits for more connections than the pool has gets POOL_EXHAUSTED', async () => {
    await using db = await createTestDatabase();
    const pool = smallPool(db.connectionString);
    const errors: WhizbangError[] = [];
    const deeper = receptor(PlaceOrder, async ({ orderId, step }) => {
      if (step > 0) await shop.invoke(PlaceOrder({ orderId, step: step - 1 }));
    });
    const running = new Set<string>();
    const placed = receptor(OrderPlaced, async ({ orderId }, { attempt }) => {
      // One alone would find the four connections that it needs.
      running.add(orderId);
      await eventually(() => expect(running.size).toBe(2));
      if (attempt === 1) await shop.invoke(PlaceOrder({ orderId, step: 2 }));
    });
    await using shop = service(db, {
      connectionString: undefined,
      pool,
      receptors: [deeper, placed],
      transport: inProcessTransport(),
      retry: { firstDelaySeconds: 0 },
    });
    shop.on('failure', ({ error }) => errors.push(error as WhizbangError));
    for (const orderId of ['a', 'b']) await arrive(db, 'OrderPlaced', { orderId });
    await shop.start();
    await eventually(async () => expect((await db.pool.query('select 1 from wh_inbox')).rows).toEqual([]));
    expect(errors.map(({ code }) => code)).toContain('POOL_EXHAUSTED');
    expect(errors[0]).toMatchObject({
      message: expect.stringContaining('All 6 connections'),
      hint: expect.stringContaining('{ tx: ctx.tx }'),
    });
    await shop.stop();
    await pool.end();
  });
});

describe('A pool that is ended before its instance is stopped', () => {
  it('an instance whose pool is ended before it stops ends too, and logs why', async () => {
    await using db = await createTestDatabase();
    const pool = new pg.Pool({ connectionString: db.connectionString, max: 6 });
    const warnings: unknown[] = [];
    const note = (facts: object, message: string) => warnings.push({ ...facts, message });
    const logger = { debug: () => {}, info: () => {}, warn: note, error: note };
    const receptors = [receptor(OrderPlaced, () => {})];
    const shop = await service(db, { connectionString: undefined, pool, receptors, logger }).start();
    await shop.publish(OrderPlaced({ orderId: 'a' }));
    await pool.end();
    await shop.stop({ seconds: 5 });
    expect(JSON.stringify(warnings)).toContain('was ended before the instance was stopped');
  });
});
