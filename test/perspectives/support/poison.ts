// A perspective with an event that it cannot apply, until it is cured.
import { z } from 'zod';
import { keyedPerspective, perspective } from '../../../src/index.js';
import { OrderPaid, OrderPlaced } from '../../events/shop.js';

/** It throws at a payment of 13 cents. */
export function fragileOrders(cure: { isCured: boolean }) {
  return perspective('fragile', {
    model: z.object({ paid: z.number(), sum: z.number() }),
    columns: { paid: 'int' },
  })
    .starts(OrderPlaced, () => ({ paid: 0, sum: 0 }))
    .on(OrderPaid, ({ paid, sum }, { cents }) => {
      if (cents === 13 && !cure.isCured) throw new Error('13 is not a price');
      return { paid: paid + 1, sum: sum + cents };
    });
}

export function fragileRevenue(cure: { isCured: boolean }) {
  return keyedPerspective('fragile_revenue', {
    model: z.object({ orders: z.number() }),
    initial: { orders: 0 },
  }).on(
    OrderPaid,
    ({ cents }) => (cents < 100 ? 'small' : 'large'),
    ({ orders }, { cents }) => {
      if (cents === 13 && !cure.isCured) throw new Error('13 is not a price');
      return { orders: orders + 1 };
    },
  );
}
