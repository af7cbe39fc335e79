// What the compiler knows of the models of a perspective. `tsc` checks it; running it shows that nothing throws.
import { expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { createWhizbang, type FoundModel, perspective, perspectiveFor } from '../../src/index.js';
import { OrderPlaced } from '../events/shop.js';
import { orders, revenue } from './support/orders.js';

const connectionString = 'postgres://localhost/shop';

it('a model that is got or found has the type of the schema of its perspective', () => {
  const unused = async () => {
    const shop = createWhizbang({ service: 'shop', connectionString, perspectives: [orders, revenue] });
    type Order = { customer: string; cents: number; status: 'placed' | 'paid' };
    expectTypeOf(shop.model(orders).get('a')).toEqualTypeOf<Promise<Order | null>>();
    expectTypeOf(shop.model(revenue).get('a')).toEqualTypeOf<
      Promise<{ orders: number; cents: number } | null>
    >();
    expectTypeOf(shop.model(orders).find()).toEqualTypeOf<Promise<readonly FoundModel<Order>[]>>();
    const receipt = await shop.events.append(OrderPlaced({ orderId: 'a', cents: 1 }));
    await shop.model(orders).get('a', { atLeast: receipt });
    await shop.model(orders).waitFor(receipt.receipts[0] ?? receipt, { timeoutSeconds: 1 });
    await shop.model(orders).waitFor(await shop.events.decide({} as never, 'a', () => null));
    await shop.model(perspectiveFor<object>()('stock')).waitFor(receipt);
    // @ts-expect-error its tables are the user's own
    await shop.model(perspectiveFor<object>()('stock')).get('a');
    // @ts-expect-error the id of a message says nothing about a stream
    await shop.model(orders).waitFor('a');
  };
  expectTypeOf(unused).toBeFunction();
});

it('a query names columns of the perspective, with values of the model', () => {
  const unused = async () => {
    const shop = createWhizbang({ service: 'shop', connectionString });
    await shop.model(orders).find({ where: { customer: 'Ada', status: ['placed', 'paid'], cents: null } });
    await shop.model(orders).find({ orderBy: { cents: 'desc', customer: 'asc' }, limit: 20 });
    // @ts-expect-error there is no such column
    await shop.model(orders).find({ where: { colour: 'red' } });
    // @ts-expect-error no status is this
    await shop.model(orders).find({ where: { status: 'shipped' } });
    // @ts-expect-error neither is one of a list
    await shop.model(orders).find({ where: { status: ['placed', 'shipped'] } });
    // @ts-expect-error with exactOptionalPropertyTypes; without, it is refused when it is asked
    await shop.model(orders).find({ where: { customer: undefined } });
    // @ts-expect-error there is no such order
    await shop.model(orders).find({ orderBy: { cents: 'down' } });
    // @ts-expect-error a misspelt option
    await shop.model(orders).find({ order: { cents: 'desc' } });
    // @ts-expect-error a member of the model that is no column
    await shop.model(revenue).find({ where: { cents: 1 } });
    const half = perspective('half', {
      model: z.object({ a: z.string(), b: z.string() }),
      columns: { a: 'text' },
    });
    await shop.model(half).find({ where: { a: 'x' } });
    // @ts-expect-error a member of the model that is no column
    await shop.model(half).find({ where: { b: 'x' } });
  };
  expectTypeOf(unused).toBeFunction();
});
