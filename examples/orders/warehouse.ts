// The warehouse: it reserves pieces for orders, ships them, and knows what is left of each product.
import { z } from 'zod';
import { createWhizbang, decider, keyedPerspective, receptor } from '../../src/index.js';
import {
  ParcelSent,
  ReleaseStock,
  ReservationMade,
  ReservationRefused,
  ReserveStock,
  ShipOrder,
  StockDelivered,
  StockReleased,
  StockReserved,
} from './messages.js';

/** How many pieces of a product are free, from its own events. Decisions are made on it. */
const Stock = decider('Stock', { initial: { free: 0 } })
  .on(StockDelivered, ({ free }, { pieces }) => ({ free: free + pieces }))
  .on(StockReserved, ({ free }, { pieces }) => ({ free: free - pieces }))
  .on(StockReleased, ({ free }, { pieces }) => ({ free: free + pieces }));

/** The stream of the product is locked while it is decided: no piece is promised twice. */
const reserve = receptor(ReserveStock, async (order, ctx) => {
  const { sku, pieces } = order;
  const { receipts } = await ctx.decide(Stock, sku, ({ free }) =>
    pieces <= free ? StockReserved({ sku, pieces }) : undefined,
  );
  return receipts.length > 0 ? ReservationMade(order) : ReservationRefused(order);
});

const release = receptor(ReleaseStock, async ({ sku, pieces }, ctx) => {
  await ctx.decide(Stock, sku, () => StockReleased({ sku, pieces }));
});

const ship = receptor(ShipOrder, (order) => ParcelSent(order));

const ofProduct = ({ sku }: { sku: string }) => sku;

/** What the page shows of a product: a perspective of many streams, those of the products and those of the orders. */
export const products = keyedPerspective('products', {
  model: z.object({ free: z.number(), reserved: z.number(), shipped: z.number() }),
  initial: { free: 0, reserved: 0, shipped: 0 },
})
  .on(StockDelivered, ofProduct, (of, { pieces }) => ({ ...of, free: of.free + pieces }))
  .on(StockReserved, ofProduct, (of, { pieces }) => moved(of, 'free', 'reserved', pieces))
  .on(StockReleased, ofProduct, (of, { pieces }) => moved(of, 'reserved', 'free', pieces))
  .on(ParcelSent, ofProduct, (of, { pieces }) => moved(of, 'reserved', 'shipped', pieces));

function moved<Of extends Record<Place, number>, Place extends string>(
  of: Of,
  from: Place,
  to: Place,
  pieces: number,
): Of {
  return { ...of, [from]: of[from] - pieces, [to]: of[to] + pieces };
}

export const createWarehouse = (connectionString: string) =>
  createWhizbang({
    service: 'warehouse',
    schema: 'warehouse',
    connectionString,
    receptors: [reserve, release, ship],
    perspectives: [products],
  });

export type Warehouse = ReturnType<typeof createWarehouse>;
