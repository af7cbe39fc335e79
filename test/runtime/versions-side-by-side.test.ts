import { describe, expect, it } from 'vitest';
import { inProcessTransport, receptor } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { arrive } from './arrivals.js';
import { OrderPlaced, PlaceOrder, service } from './service.js';

describe('Two versions of a service side by side', () => {
  it('each version of a service claims only messages of its receptors, in the order of streams', async () => {
    await using db = await createTestDatabase();
    const seen: string[] = [];
    const old = receptor(OrderPlaced, ({ step }) => void seen.push(`placed ${step}`));
    const young = receptor(PlaceOrder, ({ step }) => void seen.push(`place ${step}`));
    await using before = service(db, { receptors: [old], transport: inProcessTransport() });
    await before.start();
    await arrive(db, 'OrderPlaced', { orderId: 'a', step: 1 });
    await arrive(db, 'PlaceOrder', { orderId: 'a', step: 2 });
    await arrive(db, 'OrderPlaced', { orderId: 'a', step: 3 });
    await arrive(db, 'OrderPlaced', { orderId: 'b', step: 4 });
    await eventually(() => expect([...seen].sort()).toEqual(['placed 1', 'placed 4']));
    await eventually(async () => {
      const { rows } = await db.pool.query(
        'select instance_id, attempts from wh_inbox order by sequence_order',
      );
      expect(rows).toEqual([
        { instance_id: null, attempts: 0 },
        { instance_id: null, attempts: 0 },
      ]);
    });
    await using after = service(db, {
      receptors: [young],
      takeoverSeconds: 0,
      transport: inProcessTransport(),
    });
    await after.start();
    await eventually(() =>
      expect(seen.filter((step) => step !== 'placed 4')).toEqual(['placed 1', 'place 2', 'placed 3']),
    );
  });

  it('a version of a service stores what it has no receptor for, and leaves it to the other', async () => {
    await using db = await createTestDatabase();
    const transport = inProcessTransport();
    const seen: string[] = [];
    await using before = service(db, {
      receptors: [receptor(OrderPlaced, () => void seen.push('placed'))],
      transport,
    });
    await before.start();
    await before.send(PlaceOrder({ orderId: 'a' }), { to: 'shop' });
    await eventually(async () => {
      const { rows } = await db.pool.query('select handler_name, instance_id from wh_inbox');
      expect(rows).toEqual([{ handler_name: 'PlaceOrder', instance_id: null }]);
    });
    await using after = service(db, {
      receptors: [receptor(PlaceOrder, () => void seen.push('place'))],
      takeoverSeconds: 0,
      transport,
    });
    await after.start();
    await eventually(() => expect(seen).toEqual(['place']));
  });
});
