// What the compiler knows of perspectives without being told. `tsc` checks it; running it shows that nothing throws.
import { type } from 'arktype';
import * as v from 'valibot';
import { expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import {
  keyedPerspective,
  type ModelPerspective,
  type Perspective,
  perspective,
  perspectiveFor,
} from '../../src/fold/index.js';
import { OrderCancelled, OrderPaid, OrderPlaced } from '../events/shop.js';
import { orders, revenue } from './shop.js';

const model = z.object({ customer: z.string(), cents: z.number(), at: z.coerce.date() });
const some = { customer: 'Ada', cents: 1, at: new Date(0) };

it('a perspective has the output of its schema as model, in every library', () => {
  type Model = { customer: string; cents: number; at: Date };
  expectTypeOf(perspective('p', { model })).toEqualTypeOf<Perspective<Model, never>>();
  const inValibot = perspective('p', { model: v.object({ n: v.number() }), columns: { n: 'int' } });
  expectTypeOf(inValibot).toEqualTypeOf<Perspective<{ n: number }, 'n'>>();
  const inArktype = perspective('p', { model: type({ n: 'number' }), columns: { n: 'int' } });
  expectTypeOf(inArktype).toEqualTypeOf<Perspective<{ n: number }, 'n'>>();
});

it('columns are members of the model, and indexes are lists of columns', () => {
  const made = perspective('p', {
    model,
    columns: { customer: 'text', at: 'timestamptz' },
    indexes: [['at']],
  });
  expectTypeOf(made.columns).toEqualTypeOf<
    Readonly<Record<'customer' | 'at', (typeof made.columns)['customer']>>
  >();
  const wrong = [
    // @ts-expect-error the model has no such member
    () => perspective('p', { model, columns: { customer: 'text', colour: 'text' } }),
    // @ts-expect-error there is no such type of column
    () => perspective('p', { model, columns: { customer: 'varchar' } }),
    // @ts-expect-error every table has this column
    () => perspective('p', { model: model.extend({ version: z.number() }), columns: { version: 'int' } }),
    // @ts-expect-error a member of the model that is no column
    () => perspective('p', { model, columns: { customer: 'text' }, indexes: [['cents']] }),
    // @ts-expect-error without columns there is no index
    () => perspective('p', { model, indexes: [['cents']] }),
    // @ts-expect-error a misspelt option
    () => perspective('p', { model, colour: { customer: 'text' } }),
  ];
  expectTypeOf(wrong).toBeArray();
});

it('functions of a perspective get the payload and the model, and return a model', () => {
  perspective('p', { model })
    .starts(OrderPlaced, (e, event) => {
      expectTypeOf(e).toEqualTypeOf<{ orderId: string; customer: string; cents: number }>();
      expectTypeOf(event.payload).toEqualTypeOf(e);
      return some;
    })
    .on(OrderPaid, (order, e) => {
      expectTypeOf(order).toEqualTypeOf<{ customer: string; cents: number; at: Date }>();
      expectTypeOf(e.paidAt).toEqualTypeOf<Date>();
      return { ...order, at: e.paidAt };
    })
    .ends(OrderCancelled)
    .announces(OrderCancelled, (order, before) => {
      expectTypeOf(before).toEqualTypeOf<typeof order | null>();
      return order.cents === 0 ? { orderId: 'a' } : undefined;
    });
  const p = perspective('p', { model });
  const wrong = [
    // @ts-expect-error a model without its date
    () => p.starts(OrderPlaced, (e) => ({ customer: e.customer, cents: e.cents })),
    // @ts-expect-error the amount is a number
    () => p.on(OrderPaid, (order) => ({ ...order, cents: 'ten' })),
    // @ts-expect-error a state that the model does not have
    () => orders.on(OrderPlaced, (order) => ({ ...order, status: 'lost' })),
    // @ts-expect-error the model has no such member
    () => p.on(OrderPaid, (order) => ({ ...order, cents: order.cent })),
    // @ts-expect-error the payload has no such member
    () => p.on(OrderPaid, (order, e) => ({ ...order, cents: e.amount })),
    // @ts-expect-error the event has another payload
    () => p.announces(OrderCancelled, (order) => ({ id: order.customer })),
  ];
  expectTypeOf(wrong).toBeArray();
});

it('a key is a text or a list of them, and the initial model is a model', () => {
  const counts = keyedPerspective('counts', { model: z.object({ n: z.number() }), initial: { n: 0 } });
  counts.on(
    OrderPlaced,
    (e) => [e.customer, e.orderId],
    ({ n }) => ({ n: n + 1 }),
  );
  const wrong = [
    () =>
      counts.on(
        OrderPlaced,
        // @ts-expect-error a key is a text
        (e) => e.cents,
        ({ n }) => ({ n }),
      ),
    // @ts-expect-error the initial model has a wrong member
    () => keyedPerspective('counts', { model: z.object({ n: z.number() }), initial: { n: '0' } }),
    // @ts-expect-error a keyed perspective cannot be inline
    () => keyedPerspective('counts', { model: z.object({ n: z.number() }), initial: { n: 0 }, inline: true }),
  ];
  expectTypeOf(wrong).toBeArray();
});

it('a perspective of your own tables gets your transaction', () => {
  interface Tx {
    insert(row: object): Promise<void>;
  }
  perspectiveFor<Tx>()('stock', { version: 2 })
    .on(OrderPlaced, async (e, { tx, event, publish }) => {
      expectTypeOf(tx).toEqualTypeOf<Tx>();
      expectTypeOf(event.payload).toEqualTypeOf(e);
      await publish(OrderCancelled({ orderId: e.orderId }));
    })
    .resets(async ({ tx }) => tx.insert({}));
});

it('perspectives of all models fit into one list', () => {
  const all: ModelPerspective<unknown>[] = [orders, revenue, perspective('p', { model })];
  expectTypeOf(all).toBeArray();
});
