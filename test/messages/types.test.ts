// What the compiler knows without being told. `tsc` checks it; running it shows that nothing throws.
import { type } from 'arktype';
import * as v from 'valibot';
import { expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import {
  defineCommand,
  defineEvent,
  type MessageDefinition,
  type MessageToSend,
  readEnvelope,
  validatePayload,
} from '../../src/messages/index.js';
import { anOrder, arktypeOrder, valibotOrder, zodOrder } from './order-schemas.js';

interface OrderInput {
  orderId: string;
  placedAt: string;
  lines: { sku: string; price: number }[];
}

it('the sender writes the input of the schema and the stream rule reads its output, in every library', () => {
  const definitions = [
    defineEvent('A', {
      schema: zodOrder,
      stream: (order) => {
        expectTypeOf(order.placedAt).toEqualTypeOf<Date>();
        return order.orderId;
      },
    }),
    defineEvent('B', {
      schema: valibotOrder,
      stream: (order) => {
        expectTypeOf(order.placedAt).toEqualTypeOf<Date>();
        return order.orderId;
      },
    }),
    defineEvent('C', {
      schema: arktypeOrder,
      stream: (order) => {
        expectTypeOf(order.placedAt).toEqualTypeOf<Date>();
        return order.orderId;
      },
    }),
  ] as const;
  expectTypeOf<OrderInput>().toExtend<Parameters<(typeof definitions)[0]>[0]>();
  expectTypeOf<OrderInput>().toExtend<Parameters<(typeof definitions)[1]>[0]>();
  expectTypeOf<OrderInput>().toExtend<Parameters<(typeof definitions)[2]>[0]>();
  for (const definition of definitions) {
    definition(anOrder());
    // @ts-expect-error a price is a number
    definition({ ...anOrder(), lines: [{ sku: 'tea', price: 'three' }] });
    // @ts-expect-error the order has no id
    definition({ placedAt: '', lines: [] });
  }
});

it('the kind of a message is part of its type', () => {
  const schema = z.object({});
  expectTypeOf(defineEvent('E', { schema })({})).toExtend<MessageToSend<'event'>>();
  expectTypeOf(defineCommand('C', { schema })({})).not.toExtend<MessageToSend<'event'>>();
});

it('the result of a command has the type of its result schema, and is void without one', () => {
  const schema = z.object({});
  const Priced = defineCommand('Priced', { schema, result: z.object({ total: z.number() }) });
  expectTypeOf(Priced({})).toEqualTypeOf<MessageToSend<'command', { total: number }>>();
  expectTypeOf(defineCommand('Plain', { schema })({})).toEqualTypeOf<MessageToSend<'command', void>>();
  const V = defineCommand('V', { schema, result: v.object({ total: v.number() }) });
  expectTypeOf(V({})).toEqualTypeOf<MessageToSend<'command', { total: number }>>();
  const A = defineCommand('A', { schema, result: type({ total: 'number' }) });
  expectTypeOf(A({})).toEqualTypeOf<MessageToSend<'command', { total: number }>>();
  // @ts-expect-error a result schema checks what is returned; it cannot turn it into something else
  defineCommand('Turned', { schema, result: z.string().transform((text) => text.length) });
});

it('every definition is a MessageDefinition', () => {
  const schema = z.object({ orderId: z.string() });
  const all: MessageDefinition[] = [
    defineEvent('E', { schema, stream: (order) => order.orderId }),
    defineCommand('C', { schema, result: z.number() }),
  ];
  // @ts-expect-error of an unknown definition nobody knows the payload
  all[0]?.({ orderId: 'a' });
});

it('an upcaster can declare the type of the old payload', () => {
  const schema = z.object({ cents: z.number() });
  defineEvent('E', {
    schema,
    version: 2,
    upcast: { 1: (old: { euros: number }) => ({ cents: old.euros * 100 }) },
  });
  // @ts-expect-error unless it says so, nothing is known of it
  defineEvent('E', { schema, version: 2, upcast: { 1: (old) => ({ cents: old.euros * 100 }) } });
});

it('a validated payload and a read envelope have the output type of the schema', () => {
  const OrderPlaced = defineEvent('OrderPlaced', { schema: zodOrder });
  type Order = z.output<typeof zodOrder>;
  expectTypeOf(validatePayload<Order>).toBeFunction();
  const validated = () => validatePayload(OrderPlaced, {});
  expectTypeOf<Awaited<ReturnType<typeof validated>>['payload']>().toEqualTypeOf<Order>();
  const read = () => readEnvelope({} as never, OrderPlaced);
  expectTypeOf<Awaited<ReturnType<typeof read>>['payload']>().toEqualTypeOf<Order>();
});

it('a misspelt option of a definition does not compile', () => {
  const wrong = () =>
    // @ts-expect-error steam
    defineEvent('E', { schema: z.object({ id: z.string() }), steam: (e: { id: string }) => e.id });
  expectTypeOf(wrong).toBeFunction();
});
