import { describe, expect, it } from 'vitest';
import { inProcessTransport, receptor } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { OrderPlaced, PlaceOrder, service } from './service.js';

describe('A service', () => {
  it('a service handles what it publishes, in the order of the stream', async () => {
    await using db = await createTestDatabase();
    const steps: number[] = [];
    const onPlaced = receptor(OrderPlaced, async ({ step }) => {
      steps.push(step);
    });
    await using shop = service(db, { receptors: [onPlaced], transport: inProcessTransport() });
    await shop.start();
    await shop.publish([1, 2, 3].map((step) => OrderPlaced({ orderId: 'a', step })));
    await shop.publish(OrderPlaced({ orderId: 'a', step: 4 }));
    await eventually(() => expect(steps).toEqual([1, 2, 3, 4]));
  });

  it('the writes of a receptor, what it sends and its completion all take effect', async () => {
    await using db = await createTestDatabase();
    await db.pool.query('create table effects (order_id text, step int)');
    const onPlace = receptor(PlaceOrder, async ({ orderId, step }, ctx) => {
      await ctx.tx.query('insert into effects values ($1, $2)', [orderId, step]);
      await ctx.publish(OrderPlaced({ orderId, step }));
    });
    const seen: string[] = [];
    const onPlaced = receptor(OrderPlaced, async (_, { envelope }) => {
      seen.push(envelope.causationId ?? 'none');
    });
    await using shop = service(db, { receptors: [onPlace, onPlaced], transport: inProcessTransport() });
    await shop.start();
    const id = await shop.send(PlaceOrder({ orderId: 'a', step: 1 }));
    await eventually(() => expect(seen).toEqual([id]));
    const { rows } = await db.pool.query('select * from effects');
    expect(rows).toEqual([{ order_id: 'a', step: 1 }]);
    await eventually(async () => {
      const left = await db.pool.query('select 1 from wh_inbox union all select 1 from wh_outbox');
      expect(left.rows).toEqual([]);
    });
  });

  it('a message whose receptor failed is retried, and what the receptor wrote is rolled back', async () => {
    await using db = await createTestDatabase();
    await db.pool.query('create table effects (attempt int)');
    const onPlaced = receptor(OrderPlaced, { retry: { firstDelaySeconds: 0.05 } }, async (_, ctx) => {
      await ctx.tx.query('insert into effects values ($1)', [ctx.attempt]);
      if (ctx.attempt < 3) throw new Error('not yet');
    });
    await using shop = service(db, { receptors: [onPlaced], transport: inProcessTransport() });
    await shop.start();
    await shop.publish(OrderPlaced({ orderId: 'a' }));
    await eventually(async () => {
      const { rows } = await db.pool.query('select attempt from effects');
      expect(rows).toEqual([{ attempt: 3 }]);
    });
  });

  it('a message that always fails becomes a dead letter, and its stream goes on', async () => {
    await using db = await createTestDatabase();
    const steps: number[] = [];
    const onPlaced = receptor(
      OrderPlaced,
      { retry: { attempts: 2, firstDelaySeconds: 0.05 } },
      ({ step }) => {
        if (step === 1) throw new Error('never');
        steps.push(step);
      },
    );
    await using shop = service(db, { receptors: [onPlaced], transport: inProcessTransport() });
    await shop.start();
    await shop.publish([1, 2].map((step) => OrderPlaced({ orderId: 'a', step })));
    await eventually(() => expect(steps).toEqual([2]));
    const { rows } = await db.pool.query('select event_type, attempts, error from wh_dead_letters');
    expect(rows).toEqual([
      { event_type: 'OrderPlaced', attempts: 2, error: expect.stringContaining('never') },
    ]);
  });
});
