// Perspectives of orders, and stored events of them, for the tests of perspectives.
import { z } from 'zod';
import { keyedPerspective, perspective, StoredEvent } from '../../src/fold/index.js';
import { newMessageId } from '../../src/message-id.js';
import { streamIdOf } from '../../src/messages/index.js';
import { OrderCancelled, OrderPaid, OrderPlaced } from '../events/shop.js';

export const orders = perspective('orders', {
  model: z.object({ customer: z.string(), cents: z.number(), status: z.enum(['placed', 'paid']) }),
  columns: { customer: 'text', status: 'text', cents: 'int' },
  indexes: [['customer', 'status']],
})
  .starts(OrderPlaced, (e) => ({ customer: e.customer, cents: e.cents, status: 'placed' }))
  .on(OrderPaid, (order) => ({ ...order, status: 'paid' }))
  .ends(OrderCancelled);

export const revenue = keyedPerspective('revenue', {
  model: z.object({ orders: z.number(), cents: z.number() }),
  initial: { orders: 0, cents: 0 },
}).on(
  OrderPaid,
  (e) => e.paidAt.toISOString().slice(0, 10),
  (day, e) => ({ orders: day.orders + 1, cents: day.cents + e.cents }),
);

export const id = streamIdOf;

/** An event as it is read from the store. Fields that are not given fit every event of the shop. */
export function stored(type: string, stream: string, version: number, data: object = {}): StoredEvent {
  return new StoredEvent({
    event_id: newMessageId(),
    stream_id: id(stream),
    version,
    event_type: type,
    aggregate_type: 'Order',
    event_data: { orderId: stream, cents: 5, paidAt: '2026-11-17T08:00:00Z', ...data },
    metadata: {},
    scope: null,
    sequence_number: version,
    created_at: '2026-11-17T00:00:00Z',
  });
}
