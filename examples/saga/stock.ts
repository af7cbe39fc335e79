// The stock: it reserves pieces for orders, and takes them back.
import { createWhizbang, receptor } from '../../src/index.js';
import { ReleaseStock, ReserveStock, StockRefused, StockReserved } from './messages.js';

const take = 'update stock set free = free - $2 where sku = $1 and free >= $2 returning sku';
const giveBack = 'update stock set free = free + $2 where sku = $1';

const onReserve = receptor(ReserveStock, async ({ orderId, sku, pieces }, { tx }) => {
  const { rows } = await tx.query(take, [sku, pieces]);
  return rows.length > 0 ? StockReserved({ orderId }) : StockRefused({ orderId, reason: 'sold out' });
});

const onRelease = receptor(ReleaseStock, async ({ sku, pieces }, { tx }) => {
  await tx.query(giveBack, [sku, pieces]);
});

export function createStock(connectionString: string) {
  return createWhizbang({
    service: 'stock',
    schema: 'stock',
    connectionString,
    receptors: [onReserve, onRelease],
  });
}
