// Events of an order and a decider of it, for the tests of the event store.
import { z } from 'zod';
import { decider, defineEvent } from '../../src/index.js';

const order = { orderId: z.string() };
const stream = ({ orderId }: { orderId: string }) => orderId;

export const OrderPlaced = defineEvent('OrderPlaced', {
  schema: z.object({ ...order, customer: z.string().default('Ada'), cents: z.number().int() }),
  stream,
});

export const OrderPaid = defineEvent('OrderPaid', {
  schema: z.object({ ...order, cents: z.number(), paidAt: z.coerce.date() }),
  stream,
  formerly: ['OrderSettled'],
});

export const OrderCancelled = defineEvent('OrderCancelled', { schema: z.object(order), stream });

interface OrderState {
  readonly status: 'new' | 'placed' | 'paid';
  readonly cents: number;
  readonly changes: number;
}

const initial: OrderState = { status: 'new', cents: 0, changes: 0 };

export const Order = decider('Order', { initial })
  .on(OrderPlaced, ({ changes }, { cents }) => ({ status: 'placed', cents, changes: changes + 1 }))
  .on(OrderPaid, (state) => ({ ...state, status: 'paid', changes: state.changes + 1 }));

export const placed = (orderId: string, cents = 100) => OrderPlaced({ orderId, cents });
export const paid = (orderId: string, cents = 100) =>
  OrderPaid({ orderId, cents, paidAt: '2026-11-17T08:00:00Z' });
