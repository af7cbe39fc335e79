// The shop: it takes orders and payments, and knows what has become of each order.
import type pg from 'pg';
import { z } from 'zod';
import { createWhizbang, perspective, receptor } from '../../src/index.js';
import {
  type Order,
  OrderCancelled,
  OrderPaid,
  OrderPlaced,
  OrderShipped,
  ParcelSent,
  ReleaseStock,
  ReservationMade,
  ReservationRefused,
  ReserveStock,
  ShipOrder,
} from './messages.js';

/** What the page shows of an order: a perspective of one stream. */
export const orders = perspective('orders', {
  model: z.object({
    orderId: z.string(),
    customer: z.string(),
    sku: z.string(),
    pieces: z.number(),
    cents: z.number(),
    status: z.enum(['placed', 'paid', 'shipped', 'cancelled']),
    reason: z.string().optional(),
  }),
  columns: { orderId: 'text', customer: 'text', status: 'text' },
  indexes: [['customer', 'status']],
})
  .starts(OrderPlaced, (order) => ({ ...order, status: 'placed' }))
  .on(OrderPaid, (order) => ({ ...order, status: 'paid' }))
  .on(OrderShipped, (order) => ({ ...order, status: 'shipped' }))
  .on(OrderCancelled, (order, { reason }) => ({ ...order, status: 'cancelled', reason }));

/** Stands for a payment provider. Cards are good for 100 euros. */
const charge = async ({ cents }: Order) => cents <= 10_000;

/** What a receptor returns is stored and sent with the completion of its message: all of it, or nothing. */
const pay = receptor(ReservationMade, async (order) =>
  (await charge(order))
    ? [OrderPaid(order), ShipOrder(order)]
    : [OrderCancelled({ ...order, reason: 'the card was refused' }), ReleaseStock(order)],
);
const cancel = receptor(ReservationRefused, (order) => OrderCancelled({ ...order, reason: 'sold out' }));
const finish = receptor(ParcelSent, (order) => OrderShipped(order));

export const createShop = (connectionString: string, sendMail: (text: string) => void) =>
  createWhizbang({
    service: 'shop',
    schema: 'shop',
    connectionString,
    receptors: [
      pay,
      cancel,
      finish,
      receptor(OrderShipped, ({ orderId, customer }) =>
        sendMail(`Mail to ${customer}: ${orderId} is on its way.`),
      ),
      receptor(OrderCancelled, ({ orderId, customer, reason }) =>
        sendMail(`Mail to ${customer}: ${orderId} is cancelled, ${reason}.`),
      ),
    ],
    perspectives: [orders],
  });

export type Shop = ReturnType<typeof createShop>;

/** Stores the order and asks the warehouse for its pieces, in one transaction. An id is taken only once. */
export async function place(shop: Shop, pool: pg.Pool, order: Order) {
  const tx = await pool.connect();
  try {
    await tx.query('begin');
    const receipt = await shop.events.append(OrderPlaced(order), { tx, expectedVersion: 0 });
    await shop.send(ReserveStock(order), { tx });
    await tx.query('commit');
    return receipt;
  } catch (error) {
    await tx.query('rollback');
    throw error;
  } finally {
    tx.release();
  }
}
