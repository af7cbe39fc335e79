// Two services: the shop places orders, and the ledger books them and keeps a model of its bookings.
import { z } from 'zod';
import { defineEvent, perspective, receptor } from '../../../src/index.js';

const order = z.object({ orderId: z.string(), failures: z.number().default(0) });

export const OrderPlaced = defineEvent('OrderPlaced', { schema: order, stream: ({ orderId }) => orderId });
export const OrderBooked = defineEvent('OrderBooked', {
  schema: z.object({ orderId: z.string() }),
  stream: ({ orderId }) => `booking of ${orderId}`,
});

/** Books an order, after it has failed as often as the order says. */
export const book = receptor(
  OrderPlaced,
  { name: 'book', retry: { attempts: 2, firstDelaySeconds: 0.01 } },
  async ({ orderId, failures }, ctx) => {
    if (ctx.attempt <= failures) throw new RangeError('not yet');
    await ctx.publish(OrderBooked({ orderId }));
  },
);

export const bookings = perspective('bookings', { model: z.object({ orderId: z.string() }) }).starts(
  OrderBooked,
  ({ orderId }) => ({ orderId }),
);
