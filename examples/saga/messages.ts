// The steps of the saga. All three services import this file. Every message is in the stream of its order.
import { z } from 'zod';
import { defineCommand, defineEvent } from '../../src/index.js';

const order = z.object({ orderId: z.string() });
const items = order.extend({ sku: z.string(), pieces: z.number() });
const failure = order.extend({ reason: z.string() });
const stream = (message: { orderId: string }) => message.orderId;

/** To the shop. */
export const PlaceOrder = defineCommand('PlaceOrder', {
  schema: items.extend({ customer: z.string(), card: z.string().nullable() }),
  stream,
});
export const PayOrder = defineCommand('PayOrder', { schema: order.extend({ card: z.string() }), stream });
export const RemindCustomer = defineCommand('RemindCustomer', { schema: order, stream });

/** To the stock, and its answers. */
export const ReserveStock = defineCommand('ReserveStock', { schema: items, stream, to: 'stock' });
export const ReleaseStock = defineCommand('ReleaseStock', { schema: items, stream, to: 'stock' });
export const StockReserved = defineEvent('StockReserved', { schema: order, stream });
export const StockRefused = defineEvent('StockRefused', { schema: failure, stream });

/** To the payments, and their answers. */
export const ChargeCard = defineCommand('ChargeCard', {
  schema: order.extend({ card: z.string() }),
  stream,
  to: 'payments',
});
export const CardCharged = defineEvent('CardCharged', { schema: order, stream });
export const ChargeFailed = defineEvent('ChargeFailed', { schema: failure, stream });
