import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineEvent, type StoredEvent } from '../../src/index.js';
import { service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { OrderPaid, OrderPlaced, paid, placed } from './shop.js';

async function all(events: AsyncIterable<StoredEvent>): Promise<StoredEvent[]> {
  const found: StoredEvent[] = [];
  for await (const event of events) found.push(event);
  return found;
}

describe('events.stream', () => {
  it('events are read in the order of their versions, with payloads that their schema has made', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append([placed('a'), placed('b'), paid('a', 250)], { scope: { tenant: 7 } });
    const [first, second] = await all(shop.events.stream('a'));
    expect(first).toMatchObject({ type: 'OrderPlaced', version: 1, scope: { tenant: 7 }, causationId: null });
    expect(first?.is(OrderPaid)).toBe(false);
    if (!second?.is(OrderPaid)) throw new Error('it is no payment');
    expect(second.payload.paidAt).toEqual(new Date('2026-11-17T08:00:00Z'));
    expect(second.payload.cents).toBe(250);
    expect(second.at).toBeInstanceOf(Date);
  });

  it('a long stream is read page by page, from a version, up to a limit, and backwards', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append(Array.from({ length: 1_203 }, (_, i) => placed('a', i)));
    const versions = async (options: object) =>
      (await all(shop.events.stream('a', options))).map(({ version }) => version);
    expect(await versions({})).toEqual(Array.from({ length: 1_203 }, (_, i) => i + 1));
    expect(await versions({ after: 1_200 })).toEqual([1_201, 1_202, 1_203]);
    expect(await versions({ after: 10, limit: 2 })).toEqual([11, 12]);
    expect(await versions({ backwards: true, limit: 2 })).toEqual([1_203, 1_202]);
    expect(await versions({ backwards: true, after: 3 })).toEqual([2, 1]);
    expect(await versions({ limit: 700 })).toHaveLength(700);
    expect(await all(shop.events.stream('nobody'))).toEqual([]);
  });

  it('an event stored under an earlier name is of the definition that names it', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const OrderSettled = defineEvent('OrderSettled', {
      schema: z.object({ orderId: z.string(), cents: z.number(), paidAt: z.coerce.date() }),
      stream: ({ orderId }) => orderId,
    });
    await shop.events.append(OrderSettled({ orderId: 'a', cents: 5, paidAt: '2026-01-01' }));
    const [event] = await all(shop.events.stream('a'));
    expect(event?.is(OrderPaid)).toBe(true);
    expect(event).toMatchObject({ type: 'OrderSettled', payload: { cents: 5 } });
  });

  it('an old payload is upcast when it is read', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append(placed('a', 300));
    const Newer = defineEvent('OrderPlaced', {
      schema: z.object({ orderId: z.string(), euros: z.number() }),
      version: 2,
      upcast: {
        1: (old: { orderId: string; cents: number }) => ({ orderId: old.orderId, euros: old.cents / 100 }),
      },
    });
    const [event] = await all(shop.events.stream('a'));
    expect(event?.is(Newer) && event.payload).toEqual({ orderId: 'a', euros: 3 });
  });

  it('a payload that does not fit its schema is an error that names the event and the field', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append(placed('a'));
    const Strict = defineEvent('OrderPlaced', {
      schema: z.object({ orderId: z.string(), note: z.string() }),
    });
    const [event] = await all(shop.events.stream('a'));
    expect(() => event?.is(Strict)).toThrow(
      expect.objectContaining({
        code: 'INVALID_MESSAGE',
        details: expect.objectContaining({ type: 'OrderPlaced' }),
      }),
    );
  });

  it('an event whose schema is asynchronous is read with await', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.events.append(placed('a'));
    const Slow = defineEvent('OrderPlaced', {
      schema: z.object({ orderId: z.string() }).refine(async () => true),
    });
    const [event] = await all(shop.events.stream('a'));
    expect(() => event?.is(Slow)).toThrow(/returns a promise/);
    expect(await event?.read(Slow)).toEqual({ orderId: 'a' });
  });

  it('events that were appended, published, plainly inserted and received are the same events', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.start();
    const payload = { orderId: 'a', customer: 'Ada', cents: 1 };
    await shop.events.append(OrderPlaced(payload));
    await shop.publish(OrderPlaced(payload), { expectedVersion: 1 });
    await db.pool.query(
      `insert into wh_outbox (message_id, destination, event_type, event_data, stream_id, is_event)
       select gen_random_uuid(), 'OrderPlaced', 'OrderPlaced', event_data, stream_id, true from wh_event_store where version = 1`,
    );
    await eventually(async () => expect(await all(shop.events.stream('a'))).toHaveLength(3));
    await db.pool.query(
      `insert into wh_inbox (message_id, handler_name, event_type, event_data, stream_id, is_event)
       select gen_random_uuid(), 'OrderPlaced', 'OrderPlaced', event_data, stream_id, true from wh_event_store where version = 1`,
    );
    await using hearing = service(db, { receptors: [] });
    await hearing.coordinator.processWorkBatch();
    await eventually(async () => expect(await all(shop.events.stream('a'))).toHaveLength(4));
    const events = await all(shop.events.stream('a'));
    for (const event of events) expect(event.is(OrderPlaced) && event.payload).toEqual(payload);
    expect(events.map(({ version }) => version)).toEqual([1, 2, 3, 4]);
  });
});
