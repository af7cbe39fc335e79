// What the compiler knows without being told. `tsc` checks it; running it shows that nothing throws.
import { type } from 'arktype';
import * as v from 'valibot';
import { expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import {
  defineCommand,
  defineEvent,
  type Envelope,
  type MessageDefinition,
  type MessageToSend,
  type PayloadOf,
  readEnvelope,
  validatePayload,
} from '../../src/messages/index.js';
import type { Register, ScopeOf } from '../../src/register.js';
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

it('the last upcaster makes what the schema takes', () => {
  const schema = z.object({ cents: z.number(), currency: z.string().default('EUR') });
  const upcast = {
    1: (old: { euros: number }) => ({ amount: old.euros * 100 }),
    2: async (old: { amount: number }) => ({ cents: old.amount }),
  };
  defineEvent('Paid', { schema, version: 3, upcast });
  defineCommand('Pay', { schema, version: 3, upcast, to: 'till' });
  const wrong = { ...upcast, 2: () => ({ amount: 1 }) };
  // @ts-expect-error the second one makes no cents
  defineEvent('Paid', { schema, version: 3, upcast: wrong });
  // @ts-expect-error nor does it for a command
  defineCommand('Pay', { schema, version: 3, upcast: wrong });
  const result = z.object({ ok: z.boolean() });
  defineCommand('Pay', { schema, version: 3, upcast, result });
  // @ts-expect-error nor for a command with a result
  defineCommand('Pay', { schema, version: 3, upcast: wrong, result });
});

it('PayloadOf is the payload as handlers get it', () => {
  const Paid = defineEvent('Paid', { schema: z.object({ cents: z.coerce.number() }) });
  expectTypeOf<PayloadOf<typeof Paid>>().toEqualTypeOf<{ cents: number }>();
  const Pay = defineCommand('Pay', {
    schema: z.object({ sku: z.string() }),
    result: z.object({ ok: z.boolean() }),
  });
  expectTypeOf<PayloadOf<typeof Pay>>().toEqualTypeOf<{ sku: string }>();
});

it('the scope has the type that the program declares, and is unknown otherwise', () => {
  expectTypeOf<ScopeOf<{ scope: { tenant: string } }>>().toEqualTypeOf<{ tenant: string } | null>();
  expectTypeOf<ScopeOf<Register>>().toBeUnknown();
  expectTypeOf<Envelope['scope']>().toBeUnknown();
});

it('a misspelt option of a definition does not compile', () => {
  const wrong = () =>
    // @ts-expect-error steam
    defineEvent('E', { schema: z.object({ id: z.string() }), steam: (e: { id: string }) => e.id });
  expectTypeOf(wrong).toBeFunction();
});
