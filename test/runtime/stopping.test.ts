import { describe, expect, it } from 'vitest';
import { inProcessTransport, receptor } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { arrive } from './arrivals.js';
import { OrderPlaced, PlaceOrder, service } from './service.js';

describe('Stopping', () => {
  it('stop finishes what runs, gives back what waits without using up an attempt, and leaves no lease', async () => {
    await using db = await createTestDatabase();
    const steps: number[] = [];
    let letGo = () => {};
    const onPlaced = receptor(OrderPlaced, async ({ step }) => {
      steps.push(step);
      if (step === 1) await new Promise<void>((resolve) => (letGo = resolve));
    });
    for (const step of [1, 2, 3]) await arrive(db, 'OrderPlaced', { orderId: 'a', step });
    const shop = await service(db, { receptors: [onPlaced], transport: inProcessTransport() }).start();
    await eventually(() => expect(steps).toEqual([1]));
    const stopped = shop.stop();
    await eventually(async () => {
      const { rows } = await db.pool.query('select 1 from wh_inbox where instance_id is not null');
      expect(rows).toHaveLength(1);
    });
    letGo();
    await stopped;
    const { rows } = await db.pool.query(
      `select event_data->>'step' as step, attempts, instance_id from wh_inbox order by sequence_order`,
    );
    expect(rows).toEqual([
      { step: '2', attempts: 0, instance_id: null },
      { step: '3', attempts: 0, instance_id: null },
    ]);
    expect((await db.pool.query('select 1 from wh_service_instances')).rows).toEqual([]);
    expect(steps).toEqual([1]);
  });

  it('stop aborts what does not end in time, and gives it back', async () => {
    await using db = await createTestDatabase();
    const reasons: unknown[] = [];
    let isRunning = false;
    const onPlaced = receptor(
      OrderPlaced,
      (_, { signal }) =>
        new Promise<void>((resolve) => {
          isRunning = true;
          signal.addEventListener('abort', () => {
            reasons.push(signal.reason);
            void resolve; // it does not listen
          });
        }),
    );
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    const shop = await service(db, { receptors: [onPlaced], transport: inProcessTransport() }).start();
    await eventually(() => expect(isRunning).toBe(true));
    await shop.stop({ seconds: 0.1 });
    expect(reasons).toHaveLength(1);
    const { rows } = await db.pool.query('select attempts, instance_id from wh_inbox');
    expect(rows).toEqual([{ attempts: 0, instance_id: null }]);
  });

  it('a receptor that still runs during a stop can send outside its transaction', async () => {
    await using db = await createTestDatabase();
    let letGo = () => {};
    let isRunning = false;
    const onPlaced = receptor(OrderPlaced, { transaction: false }, async () => {
      await new Promise<void>((resolve) => {
        letGo = resolve;
        isRunning = true;
      });
      await shop.send(PlaceOrder({ orderId: 'a' }), { to: 'warehouse' });
    });
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    const shop = service(db, { receptors: [onPlaced], transport: inProcessTransport() });
    await shop.start();
    await eventually(() => expect(isRunning).toBe(true));
    const stopped = shop.stop();
    letGo();
    await stopped;
    const { rows } = await db.pool.query('select event_type, instance_id from wh_outbox');
    expect(rows).toEqual([{ event_type: 'PlaceOrder', instance_id: null }]);
    expect((await db.pool.query('select 1 from wh_inbox')).rows).toEqual([]);
  });

  it('a stopped instance refuses to send and to start, and can be stopped twice', async () => {
    await using db = await createTestDatabase();
    const shop = await service(db).start();
    await Promise.all([shop.stop(), shop.stop()]);
    await expect(shop.publish(OrderPlaced({ orderId: 'a' }))).rejects.toMatchObject({
      code: 'DISPOSED',
      message: expect.stringContaining('shop cannot send: the instance is stopped'),
    });
    await expect(shop.start()).rejects.toMatchObject({
      code: 'DISPOSED',
      message: 'shop cannot start: it is stopped.',
      hint: expect.stringContaining('Create a new one with createWhizbang'),
    });
  });

  it('stop does not wait for a database that is gone', async () => {
    const db = await createTestDatabase();
    const shop = await service(db, { receptors: [receptor(OrderPlaced, () => {})] }).start();
    await db.drop();
    await shop.stop({ seconds: 0.1 });
  });

  it.each([0, 30])(
    'stop during the start, with %i seconds for it, leaves nothing running',
    async (seconds) => {
      await using db = await createTestDatabase();
      for (const atOnce of [true, false]) {
        const shop = service(db, { receptors: [receptor(OrderPlaced, () => {})] });
        const started = shop.start().catch((error: unknown) => error);
        if (!atOnce) {
          await eventually(async () => {
            expect((await db.pool.query('select 1 from wh_service_instances')).rows).toHaveLength(1);
          });
        }
        await shop.stop({ seconds });
        await started;
        await expect(shop.publish(OrderPlaced({ orderId: 'a' }))).rejects.toMatchObject({ code: 'DISPOSED' });
        await eventually(async () => {
          const { rows } = await db.pool.query(
            `select count(*)::int as n from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
          );
          expect(rows).toEqual([{ n: 0 }]);
          expect((await db.pool.query('select 1 from wh_service_instances')).rows).toEqual([]);
        });
      }
    },
  );

  it('a failed start leaves no connection open', async () => {
    await using db = await createTestDatabase({ template: 'empty' });
    const shop = service(db);
    await expect(shop.start()).rejects.toMatchObject({ code: 'NOT_MIGRATED' });
    await eventually(async () => {
      const { rows } = await db.pool.query(
        `select count(*)::int as n from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
      );
      expect(rows).toEqual([{ n: 0 }]);
    });
  });
});
