import { describe, expect, it } from 'vitest';
import { migrate, receptor } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { deadLetters } from './arrivals.js';
import { OrderPlaced, PlaceOrder, service } from './service.js';

describe('A command to a service that has never listened', () => {
  it('a command to a service that has never listened is kept, and handled when the service starts', async () => {
    await using db = await createTestDatabase();
    await migrate({ pool: db.pool, schema: 'warehouse' });
    const codes: unknown[] = [];
    await using shop = service(db, { retry: { firstDelaySeconds: 0.05, factor: 1, attempts: 1000 } });
    shop.on('failure', ({ error }) => codes.push((error as { code: unknown }).code));
    await shop.start();
    await shop.send(PlaceOrder({ orderId: 'a' }), { to: 'warehouse' });
    await eventually(() => expect(codes).toContain('NO_RECEIVER'));

    const handled: string[] = [];
    const onPlace = receptor(PlaceOrder, ({ orderId }) => void handled.push(orderId));
    await using warehouse = service(db, { service: 'warehouse', schema: 'warehouse', receptors: [onPlace] });
    await warehouse.start();
    await eventually(() => expect(handled).toEqual(['a']));
    expect(await deadLetters(db)).toEqual([]);
  });

  it('a command to nobody becomes a dead letter after its attempts, and an event to nobody does not', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { retry: { attempts: 1 } });
    await shop.start();
    await shop.publish(OrderPlaced({ orderId: 'b' }));
    await shop.send(PlaceOrder({ orderId: 'a' }), { to: 'werehouse' });
    await eventually(async () =>
      expect(await deadLetters(db)).toMatchObject([
        { event_type: 'PlaceOrder', error: expect.stringContaining('no service listens to werehouse') },
      ]),
    );
    expect((await db.pool.query('select from wh_outbox')).rowCount).toBe(0);
  });
});
