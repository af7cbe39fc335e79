// What happens to orders and to products, and what the shop asks of the warehouse. Both services import this file.
import { z } from 'zod';
import { defineCommand, defineEvent } from '../../src/index.js';

const order = z.object({
  orderId: z.string(),
  customer: z.string(),
  sku: z.string(),
  pieces: z.number().int().positive(),
  cents: z.number().int(),
});
export type Order = z.infer<typeof order>;

const product = z.object({ sku: z.string(), pieces: z.number().int().positive() });

// Messages with the same stream are about the same thing: they are stored, sent and handled in their order.
const ofOrder = { schema: order, stream: ({ orderId }: { orderId: string }) => orderId };
const ofProduct = { schema: product, stream: ({ sku }: { sku: string }) => sku };

// What happens to an order, kept in the event store of the shop.
export const OrderPlaced = defineEvent('OrderPlaced', ofOrder);
export const OrderPaid = defineEvent('OrderPaid', ofOrder);
export const OrderShipped = defineEvent('OrderShipped', ofOrder);
export const OrderCancelled = defineEvent('OrderCancelled', {
  ...ofOrder,
  schema: order.extend({ reason: z.string() }),
});

// What happens to a product, kept in the event store of the warehouse.
export const StockDelivered = defineEvent('StockDelivered', ofProduct);
export const StockReserved = defineEvent('StockReserved', ofProduct);
export const StockReleased = defineEvent('StockReleased', ofProduct);

// What the shop asks of the warehouse, and what the warehouse tells.
export const ReserveStock = defineCommand('ReserveStock', { ...ofOrder, to: 'warehouse' });
export const ReleaseStock = defineCommand('ReleaseStock', { ...ofOrder, to: 'warehouse' });
export const ShipOrder = defineCommand('ShipOrder', { ...ofOrder, to: 'warehouse' });
export const ReservationMade = defineEvent('ReservationMade', ofOrder);
export const ReservationRefused = defineEvent('ReservationRefused', ofOrder);
export const ParcelSent = defineEvent('ParcelSent', ofOrder);
