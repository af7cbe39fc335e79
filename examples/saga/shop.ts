// The shop: it holds the saga. The state of each order is a row of its own table, changed in the transaction of the
// receptor, so that a state and the message that follows from it are committed together.
import { createWhizbang, type MessageId, type Queryable, receptor } from '../../src/index.js';
import {
  CardCharged,
  ChargeCard,
  ChargeFailed,
  PayOrder,
  PlaceOrder,
  ReleaseStock,
  RemindCustomer,
  ReserveStock,
  StockRefused,
  StockReserved,
} from './messages.js';

interface Order {
  readonly customer: string;
  readonly sku: string;
  readonly pieces: number;
  readonly card: string | null;
  readonly reminder: MessageId;
}

/** Moves the order on, if it is where the step expects it. Otherwise the step was overtaken, and does nothing. */
async function move(tx: Queryable, orderId: string, from: string, to: string): Promise<Order | undefined> {
  const { rows } = await tx.query(
    'update orders set state = $3 where order_id = $1 and state = $2 returning *',
    [orderId, from, to],
  );
  return rows[0] as Order | undefined;
}

export function createShop(
  connectionString: string,
  { remindAfterSeconds, mail }: { remindAfterSeconds: number; mail: (text: string) => void },
) {
  const shop = createWhizbang({ service: 'shop', schema: 'shop', connectionString });

  const onPlace = receptor(PlaceOrder, async ({ orderId, customer, sku, pieces, card }, { tx, send }) => {
    // A timer: it holds up nobody, and is there if and only if the order is.
    const reminder = await send(RemindCustomer({ orderId }), { delaySeconds: remindAfterSeconds });
    await tx.query('insert into orders values ($1, $2, $3, $4, $5, $6, $7)', [
      orderId,
      customer,
      sku,
      pieces,
      card,
      reminder,
      'placed',
    ]);
    return ReserveStock({ orderId, sku, pieces });
  });

  const onReserved = receptor(StockReserved, async ({ orderId }, { tx }) => {
    const order = await move(tx, orderId, 'placed', 'reserved');
    if (order?.card) return ChargeCard({ orderId, card: order.card });
  });

  const onPay = receptor(PayOrder, async ({ orderId, card }) => ChargeCard({ orderId, card }));

  const onRemind = receptor(RemindCustomer, async ({ orderId }, { tx }) => {
    const order = await move(tx, orderId, 'reserved', 'reserved');
    if (order?.card === null) mail(`${order.customer}: ${orderId} waits for its payment`);
  });

  const onCharged = receptor(CardCharged, async ({ orderId }, { tx }) => {
    const order = await move(tx, orderId, 'reserved', 'paid');
    if (order) await shop.cancel(order.reminder, { tx });
  });

  const onFailed = receptor(ChargeFailed, async ({ orderId, reason }, { tx }) => {
    const order = await move(tx, orderId, 'reserved', `cancelled, ${reason}`);
    if (!order) return;
    await shop.cancel(order.reminder, { tx });
    return ReleaseStock({ orderId, sku: order.sku, pieces: order.pieces }); // undoes the reservation
  });

  const onRefused = receptor(StockRefused, async ({ orderId, reason }, { tx }) => {
    const order = await move(tx, orderId, 'placed', `cancelled, ${reason}`);
    if (order) await shop.cancel(order.reminder, { tx });
  });

  return shop.add(onPlace, onReserved, onPay, onRemind, onCharged, onFailed, onRefused);
}
