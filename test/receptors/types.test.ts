// What the compiler knows of a handler without being told. `tsc` checks it; running it shows that nothing throws.
import { expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { Queryable } from '../../src/database/index.js';
import type { MessageScope, Sender, Whizbang } from '../../src/index.js';
import { defineCommand, defineEvent, type Envelope } from '../../src/messages/index.js';
import { type Receptor, receptor, receptorFor } from '../../src/receptors/index.js';
import { arktypeOrder, valibotOrder, zodOrder } from '../messages/order-schemas.js';

const OrderPlaced = defineEvent('OrderPlaced', { schema: zodOrder });
const PlaceOrder = defineCommand('PlaceOrder', { schema: z.object({ orderId: z.string() }), to: 'orders' });
const PriceOf = defineCommand('PriceOf', {
  schema: z.object({ orderId: z.string() }),
  result: z.object({ total: z.number() }),
});

it('the payload of a handler has the output type of the schema, in every library', () => {
  receptor(OrderPlaced, (order, ctx) => {
    expectTypeOf(order).toEqualTypeOf<z.output<typeof zodOrder>>();
    expectTypeOf(ctx.envelope).toEqualTypeOf<Envelope<z.output<typeof zodOrder>>>();
  });
  receptor(defineEvent('V', { schema: valibotOrder }), async (order) => {
    expectTypeOf(order.placedAt).toEqualTypeOf<Date>();
    expectTypeOf(order.lines).toEqualTypeOf<{ sku: string; price: number }[]>();
  });
  receptor(defineEvent('A', { schema: arktypeOrder }), {}, async (order) => {
    expectTypeOf(order.placedAt).toEqualTypeOf<Date>();
    expectTypeOf(order.lines).toEqualTypeOf<{ sku: string; price: number }[]>();
  });
});

it('the transaction of a handler is a Queryable, and undefined with transaction: false', () => {
  receptor(OrderPlaced, (_, ctx) => expectTypeOf(ctx.tx).toEqualTypeOf<Queryable>() as never);
  receptor(OrderPlaced, { timeoutSeconds: 5 }, (_, ctx) => {
    expectTypeOf(ctx.tx).toEqualTypeOf<Queryable>();
  });
  receptor(OrderPlaced, { transaction: true }, (_, ctx) => {
    expectTypeOf(ctx.tx).toEqualTypeOf<Queryable>();
  });
  receptor(OrderPlaced, { transaction: false }, (_, ctx) => {
    expectTypeOf(ctx.tx).toEqualTypeOf<undefined>();
  });
});

it('receptorFor names another type of transaction once', () => {
  interface OrmTransaction {
    insert(table: string): Promise<void>;
  }
  const ormReceptor = receptorFor<OrmTransaction>();
  const made = ormReceptor(OrderPlaced, async (order, ctx) => {
    expectTypeOf(order.orderId).toBeString();
    await ctx.tx.insert('orders');
  });
  const outside = ormReceptor(OrderPlaced, { transaction: false }, (_, ctx) => {
    expectTypeOf(ctx.tx).toEqualTypeOf<undefined>();
  });
  const both: Receptor<OrmTransaction>[] = [made, outside];
  expectTypeOf(both).toBeArray();
  // @ts-expect-error a service has receptors of one kind of transaction
  const wrong: Receptor[] = [made];
  expectTypeOf(wrong).toBeArray();
});

it('a receptor without a transaction fits a service with any transaction', () => {
  const outside = receptor(OrderPlaced, { transaction: false, name: 'mail' }, () => {});
  const ofAnOrm: Receptor<{ insert(): Promise<void> }>[] = [outside];
  const ofPg: Receptor[] = [outside];
  expectTypeOf([ofAnOrm, ofPg]).toBeArray();
});

it('a function that takes a Sender takes ctx, an instance and a scope', () => {
  const place = (sender: Sender, orderId: string) =>
    sender.publish(OrderPlaced({ orderId, placedAt: '', lines: [] }), { stream: null });
  receptor(PlaceOrder, async ({ orderId }, ctx) => {
    expectTypeOf(await place(ctx, orderId)).toEqualTypeOf<string>();
    expectTypeOf(await ctx.send([PlaceOrder({ orderId })])).toEqualTypeOf<string[]>();
  });
  expectTypeOf<Whizbang<{ insert(): void }>>().toExtend<Sender>();
  expectTypeOf<MessageScope>().toExtend<Sender>();
});

it('what runs around a receptor has the transaction of the service, or none', () => {
  receptor(
    OrderPlaced,
    {
      around: async (message, ctx, next) => {
        expectTypeOf(message.type).toEqualTypeOf<string>();
        expectTypeOf(ctx.tx).toEqualTypeOf<Queryable | undefined>();
        await next();
      },
    },
    () => {},
  );
});

it('a handler returns nothing, a message or messages', () => {
  receptor(PlaceOrder, () => {});
  receptor(PlaceOrder, async () => undefined);
  receptor(PlaceOrder, async ({ orderId }) => PriceOf({ orderId }));
  receptor(PlaceOrder, ({ orderId }) => [PlaceOrder({ orderId }), PriceOf({ orderId })]);
  receptor(PlaceOrder, ({ orderId }) => (orderId === '' ? undefined : PlaceOrder({ orderId })));
  // @ts-expect-error a number is no message, also for a command defined on the spot
  receptor(defineCommand('OnTheSpot', { schema: z.object({}) }), () => 5);
  // @ts-expect-error a number is no message
  receptor(PlaceOrder, () => 5);
  // @ts-expect-error nor is an array of them
  receptor(OrderPlaced, async () => [5]);
});

it('the handler of a command with a result returns that result', () => {
  receptor(PriceOf, () => ({ total: 5 }));
  receptor(PriceOf, { transaction: false }, async () => ({ total: 5 }));
  // @ts-expect-error the total is a number
  receptor(PriceOf, () => ({ total: 'five' }));
  // @ts-expect-error nothing is no result
  receptor(PriceOf, async () => {});
});

it('receptors of different messages go into one array', () => {
  const all: Receptor[] = [receptor(OrderPlaced, () => {}), receptor(PriceOf, () => ({ total: 5 }))];
  expectTypeOf(all).toBeArray();
});

it('a handler sends commands and publishes events, and not the other way round', () => {
  receptor(PlaceOrder, async ({ orderId }, ctx) => {
    await ctx.send([PlaceOrder({ orderId }), PriceOf({ orderId })], { to: 'orders', delaySeconds: 5 });
    await ctx.publish(OrderPlaced({ orderId, placedAt: '', lines: [] }), { expectedVersion: 1 });
    // @ts-expect-error it is a command
    await ctx.publish(PlaceOrder({ orderId }));
    // @ts-expect-error events have no receiver
    await ctx.publish(OrderPlaced({ orderId, placedAt: '', lines: [] }), { to: 'orders' });
  });
});

it('a misspelt option of a receptor does not compile', () => {
  const wrong = () =>
    // @ts-expect-error timeoutSecond
    receptor(OrderPlaced, { timeoutSecond: 5 }, () => {});
  expectTypeOf(wrong).toBeFunction();
});
