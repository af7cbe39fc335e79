import { describe, expect, it } from 'vitest';
import { inProcessTransport, newMessageId, type Readiness, receptor } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { deadLetters } from './arrivals.js';
import { OrderPlaced, service } from './service.js';

describe('Deliveries of the transport', () => {
  it('a message that the transport delivers twice is handled once', async () => {
    await using db = await createTestDatabase();
    const transport = inProcessTransport();
    const steps: number[] = [];
    const onPlaced = receptor(OrderPlaced, ({ step }) => void steps.push(step));
    await using shop = service(db, { receptors: [onPlaced], transport });
    await shop.start();
    const messageId = await shop.publish(OrderPlaced({ orderId: 'a', step: 1 }));
    await eventually(() => expect(steps).toEqual([1]));
    // The broker has it a second time, as after a lost acknowledgement.
    await shop.publish(OrderPlaced({ orderId: 'a', step: 1 }), { messageId });
    await shop.publish(OrderPlaced({ orderId: 'a', step: 2 }));
    await eventually(() => expect(steps).toEqual([1, 2]));
  });

  it('an unreadable delivery is a dead letter with its bytes and the reason', async () => {
    await using db = await createTestDatabase();
    const transport = inProcessTransport();
    const steps: number[] = [];
    const onPlaced = receptor(OrderPlaced, ({ step }) => void steps.push(step));
    await using shop = service(db, { receptors: [onPlaced], transport });
    await shop.start();
    transport.deliverUnreadable('OrderPlaced', Buffer.from('{"half a mess'));
    await shop.publish(OrderPlaced({ orderId: 'a', step: 1 }));
    await eventually(() => expect(steps).toEqual([1]));
    await eventually(async () => expect(await deadLetters(db)).toMatchObject([{ attempts: 1 }]));
    const { rows } = await db.pool.query(
      `select event_data->>'base64' as base64, error from wh_dead_letters`,
    );
    expect(Buffer.from(rows[0].base64, 'base64').toString()).toBe('{"half a mess');
    expect(rows[0].error).toContain('not a message');
  });

  it('a delivery that a trigger of the inbox refuses is a dead letter, and is delivered no more', async () => {
    await using db = await createTestDatabase();
    await db.pool.query(`
      create function refuse() returns trigger language plpgsql
      as $$ begin if new.event_type = 'Odd' then raise exception 'no such order'; end if; return new; end $$;
      create trigger refuse before insert on wh_inbox for each row execute function refuse()`);
    const transport = inProcessTransport();
    await using shop = service(db, { transport, receptors: [receptor(OrderPlaced, () => {})] });
    await shop.start();
    const odd = { specversion: '1.0', id: newMessageId(), source: 'till', type: 'Odd', data: {} };
    transport.deliverUnreadable('shop', new TextEncoder().encode(JSON.stringify(odd)));
    await eventually(async () => {
      expect(await deadLetters(db)).toMatchObject([{ error: expect.stringContaining('no such order') }]);
    });
    await eventually(() => expect(transport.pending()).toBe(0));
  });

  it('two instances handle deliveries in the order of their stream', async () => {
    await using db = await createTestDatabase();
    const transport = inProcessTransport();
    const byOrder = new Map<string, number[]>();
    const onPlaced = receptor(OrderPlaced, ({ orderId, step }) => {
      byOrder.set(orderId, [...(byOrder.get(orderId) ?? []), step]);
    });
    await using one = service(db, { receptors: [onPlaced], transport });
    await using two = service(db, { receptors: [onPlaced], transport });
    await Promise.all([one.start(), two.start()]);
    const orders = Array.from({ length: 20 }, (_, i) => `order ${i}`);
    const steps = Array.from({ length: 10 }, (_, i) => i);
    for (const step of steps) {
      await (step % 2 ? one : two).publish(orders.map((orderId) => OrderPlaced({ orderId, step })));
    }
    await eventually(() => {
      expect(orders.map((orderId) => byOrder.get(orderId))).toEqual(orders.map(() => steps));
    });
  });
});

describe('A transport that goes away', () => {
  it('an outage of the transport costs no message and no order, and readiness tells of it', async () => {
    await using db = await createTestDatabase();
    const transport = inProcessTransport();
    const steps: number[] = [];
    const told: Readiness[] = [];
    const onPlaced = receptor(OrderPlaced, ({ step }) => void steps.push(step));
    await using shop = service(db, { receptors: [onPlaced], transport });
    shop.on('readiness', (readiness) => told.push(readiness));
    await shop.start();
    await shop.publish(OrderPlaced({ orderId: 'a', step: 1 }));
    await eventually(() => expect(steps).toEqual([1]));
    transport.goAway();
    for (const step of [2, 3, 4]) await shop.publish(OrderPlaced({ orderId: 'a', step }));
    await eventually(() => expect(shop.readiness).toEqual({ database: true, transport: false }));
    transport.comeBack();
    await eventually(() => expect(steps).toEqual([1, 2, 3, 4]));
    expect(told).toEqual([
      { database: true, transport: true },
      { database: true, transport: false },
      { database: true, transport: true },
    ]);
    expect(await deadLetters(db)).toEqual([]);
  });

  it('an instance stops while the transport is away, and gives back what it could not send', async () => {
    await using db = await createTestDatabase();
    const transport = inProcessTransport();
    const shop = await service(db, { transport }).start();
    transport.goAway();
    await shop.publish(OrderPlaced({ orderId: 'a' }));
    await eventually(() => expect(shop.readiness.transport).toBe(false));
    await shop.stop({ seconds: 0.1 });
    const { rows } = await db.pool.query('select attempts, instance_id from wh_outbox');
    expect(rows).toEqual([{ attempts: 0, instance_id: null }]);
  });
});

describe('A service that is slower than what arrives', () => {
  it('a slow service holds no more than its prefetch, and the rest waits in the inbox', async () => {
    await using db = await createTestDatabase();
    let running = 0;
    let most = 0;
    let letGo = () => {};
    const open = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const onPlaced = receptor(OrderPlaced, { transaction: false }, async () => {
      most = Math.max(most, ++running);
      await open;
      running--;
    });
    await using shop = service(db, {
      receptors: [onPlaced],
      prefetch: 5,
      concurrency: 3,
      transport: inProcessTransport(),
    });
    await shop.start();
    await shop.publish(Array.from({ length: 50 }, (_, i) => OrderPlaced({ orderId: `order ${i}` })));
    await eventually(async () => {
      const { rows } = await db.pool.query(
        'select count(*)::int as stored, count(instance_id)::int as held from wh_inbox',
      );
      expect(rows).toEqual([{ stored: 50, held: 5 }]);
      expect(most).toBe(3);
    });
    letGo();
    await eventually(async () => expect((await db.pool.query('select 1 from wh_inbox')).rows).toEqual([]));
    expect(most).toBe(3);
  });
});
