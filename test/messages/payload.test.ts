import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  defineCommand,
  defineEvent,
  readPayload,
  validatePayload,
  validateResult,
} from '../../src/messages/index.js';
import { anOrder, orderSchemas } from './order-schemas.js';
import { everythingSaid, refusalOf } from './refusal.js';

describe.each(Object.entries(orderSchemas))('A payload checked by %s', (_, schema) => {
  const OrderPlaced = defineEvent('OrderPlaced', { schema, stream: (order) => order.orderId });

  it('a payload is stored as it was written, and handled as the schema makes it', async () => {
    const { payload, json } = await validatePayload(OrderPlaced, anOrder());
    expect(json).toEqual(anOrder());
    expect(payload).toEqual({ ...anOrder(), placedAt: new Date(anOrder().placedAt) });
  });

  it('a payload read from what was stored equals the one that was sent', async () => {
    const { payload, json } = await validatePayload(OrderPlaced, anOrder());
    expect(await readPayload(OrderPlaced, JSON.parse(JSON.stringify(json)), 1)).toEqual(payload);
  });

  it('a payload is refused with its type and the path of the first bad field', async () => {
    const wrong = {
      ...anOrder(),
      lines: [
        { sku: 'tea', price: 1 },
        { sku: 'milk', price: 'hunter2secret' },
      ],
    };
    const error = await refusalOf(() => validatePayload(OrderPlaced, wrong), 'INVALID_MESSAGE');
    expect(error.message).toContain('OrderPlaced: lines[1].price: ');
    expect(error.message).toContain('number');
    expect(error.details.issues).toMatchObject([{ path: 'lines[1].price' }]);
  });

  it('the refusal of a payload repeats none of its values', async () => {
    const secrets = { orderId: 480_123_456, placedAt: 'hunter2secret', lines: 'hunter3secret' };
    const error = await refusalOf(() => validatePayload(OrderPlaced, secrets), 'INVALID_MESSAGE');
    expect(error.details.issues).toHaveLength(3);
    expect(everythingSaid(error)).not.toMatch(/hunter|480/);
  });

  it('a payload with a missing field is refused, when it is sent and when it arrives', async () => {
    const { orderId: _, ...missing } = anOrder();
    for (const check of [
      () => validatePayload(OrderPlaced, missing),
      () => readPayload(OrderPlaced, missing, 1),
    ]) {
      const error = await refusalOf(check, 'INVALID_MESSAGE');
      expect(error.details.issues).toMatchObject([{ path: 'orderId' }]);
    }
  });

  it('a payload that is not an object is refused as a whole', async () => {
    const error = await refusalOf(() => validatePayload(OrderPlaced, 'tea'), 'INVALID_MESSAGE');
    expect(error.message).toContain('OrderPlaced: the payload: ');
    expect(error.details.issues).toMatchObject([{ path: '' }]);
  });
});

describe('Payloads that are sent', () => {
  const Anything = defineEvent('Anything', { schema: z.unknown() });
  const refusedAt = async (input: unknown) => {
    const error = await refusalOf(() => validatePayload(Anything, input), 'INVALID_MESSAGE');
    return (error.details.issues as { path: string; message: string }[])[0];
  };

  it('a payload is checked as the receiver will see it: a Date is text', async () => {
    const AtTime = defineEvent('AtTime', { schema: z.object({ at: z.date() }) });
    const error = await refusalOf(() => validatePayload(AtTime, { at: new Date(0) }), 'INVALID_MESSAGE');
    expect(error.details.issues).toMatchObject([{ path: 'at' }]);
    const AtAnyTime = defineEvent('AtAnyTime', { schema: z.object({ at: z.coerce.date() }) });
    expect(await validatePayload(AtAnyTime, { at: new Date(0) })).toEqual({
      payload: { at: new Date(0) },
      json: { at: '1970-01-01T00:00:00.000Z' },
    });
  });

  it('a payload is copied: what the sender changes later is not sent', async () => {
    const order = { lines: [1] };
    const { json } = await validatePayload(Anything, order);
    order.lines.push(2);
    expect(json).toEqual({ lines: [1] });
  });

  it('a payload can hold null, empty text and whatever else JSON has', async () => {
    const rich = { a: null, b: '', c: [null, [], {}], d: -0.5e-7, e: false, f: 'snow ☃ 𝄞 "quoted" \\u0000' };
    expect((await validatePayload(Anything, rich)).json).toEqual(rich);
  });

  it('a payload can leave members undefined: the receiver sees them missing', async () => {
    expect((await validatePayload(Anything, { a: undefined, b: () => 1, c: 2 })).json).toEqual({ c: 2 });
  });

  it.each([
    ['NaN', { lines: [{ price: Number.NaN }] }, 'lines[0].price'],
    ['Infinity', { total: Number.POSITIVE_INFINITY }, 'total'],
    ['a bigint', { cents: 12n }, 'cents'],
    ['undefined in an array', { lines: [1, undefined] }, 'lines[1]'],
    ['an invalid date', { at: new Date(Number.NaN) }, 'at'],
    ['a zero character', { 'odd name': { note: 'a\0b' } }, '["odd name"].note'],
    ['a zero character in a key', { tags: { 'a\0': 1 } }, 'tags'],
    ['half a surrogate pair', [{ note: '\ud834' }], '[0].note'],
    ['undefined', undefined, ''],
    ['a function', () => 1, ''],
    ['a symbol', Symbol('x'), ''],
    ['null', null, ''],
  ])('a payload cannot be or hold %s', async (_, input, path) => {
    expect(await refusedAt(input)).toMatchObject({ path });
  });

  it('a payload cannot contain itself', async () => {
    const order: { parent: { order?: unknown } } = { parent: {} };
    order.parent.order = order;
    expect(await refusedAt(order)).toEqual({ path: 'parent.order', message: 'contains itself' });
  });

  it('a payload can mention one object twice', async () => {
    const address = { city: null };
    expect((await validatePayload(Anything, { from: address, to: address })).json).toEqual({
      from: { city: null },
      to: { city: null },
    });
  });

  it('a payload is refused when writing it as JSON throws or goes too deep', async () => {
    const cause = new Error('no');
    const throwing = {
      order: {
        toJSON: () => {
          throw cause;
        },
      },
    };
    const error = await refusalOf(() => validatePayload(Anything, throwing), 'INVALID_MESSAGE');
    expect(error.cause).toBe(cause);
    let deep: unknown = 1;
    for (let i = 0; i < 200_000; i++) deep = [deep];
    expect(await refusedAt(deep)).toMatchObject({ message: 'cannot be written as JSON' });
  });

  it('a payload is checked by asynchronous schemas', async () => {
    const Slow = defineEvent('Slow', { schema: z.string().refine(async (text) => text === 'yes') });
    expect((await validatePayload(Slow, 'yes')).payload).toBe('yes');
    await refusalOf(() => validatePayload(Slow, 'no'), 'INVALID_MESSAGE');
  });

  it('an error of the schema itself is not reported as a bad payload', async () => {
    const broken = new Error('database away');
    const Broken = defineEvent('Broken', {
      schema: z.string().refine(() => {
        throw broken;
      }),
    });
    await expect((async () => validatePayload(Broken, 'x'))()).rejects.toBe(broken);
  });

  it('the refusal of a payload reports the first twenty of many mistakes', async () => {
    const Numbers = defineEvent('Numbers', { schema: z.array(z.number()) });
    const wrong = Array.from({ length: 500 }, () => 'x');
    const error = await refusalOf(() => validatePayload(Numbers, wrong), 'INVALID_MESSAGE');
    expect(error.details.issues).toHaveLength(20);
  });
});

describe('A payload of an older version', () => {
  const OrderPlaced = defineEvent('OrderPlaced', {
    schema: z.object({ cents: z.number(), currency: z.string() }),
    version: 3,
    upcast: {
      1: (old: { euros: number }) => ({ cents: old.euros * 100 }),
      2: (old: { cents: number }) => ({ ...old, currency: 'EUR' }),
    },
  });

  it('a payload of an older version is brought to the current one step by step', async () => {
    const current = { cents: 500, currency: 'EUR' };
    expect(await readPayload(OrderPlaced, { euros: 5 }, 1)).toEqual(current);
    expect(await readPayload(OrderPlaced, { cents: 500 }, 2)).toEqual(current);
    expect(await readPayload(OrderPlaced, current, 3)).toEqual(current);
  });

  it('a payload of an older version is checked after its upcasters', async () => {
    const error = await refusalOf(() => readPayload(OrderPlaced, { cents: 'five' }, 2), 'INVALID_MESSAGE');
    expect(error.details).toMatchObject({
      type: 'OrderPlaced',
      schemaVersion: 2,
      issues: [{ path: 'cents' }],
    });
  });

  it('a payload is refused with the version whose upcaster threw', async () => {
    const cause = new TypeError('x');
    const Broken = defineEvent('Broken', {
      schema: z.unknown(),
      version: 3,
      upcast: {
        1: (old) => old,
        2: () => {
          throw cause;
        },
      },
    });
    const error = await refusalOf(() => readPayload(Broken, { a: 1 }, 1), 'INVALID_MESSAGE');
    expect(error.message).toBe('Broken: the payload: the upcaster from version 2 threw an error.');
    expect(error.details).toMatchObject({ schemaVersion: 1, upcaster: 2 });
    expect(error.cause).toBe(cause);
  });

  it('a stored payload is not changed by an upcaster that changes its argument', async () => {
    const Mutating = defineEvent('Mutating', {
      schema: z.unknown(),
      version: 2,
      upcast: { 1: (old: { n: number }) => Object.assign(old, { n: 2 }) },
    });
    const stored = { n: 1 };
    expect(await readPayload(Mutating, stored, 1)).toEqual({ n: 2 });
    expect(stored).toEqual({ n: 1 });
  });

  it('a payload of a newer version than the definition is refused with MESSAGE_TOO_NEW', async () => {
    const error = await refusalOf(() => readPayload(OrderPlaced, {}, 4), 'MESSAGE_TOO_NEW');
    expect(error.details).toEqual({ type: 'OrderPlaced', schemaVersion: 4, current: 3 });
  });
});

describe('The result of a command', () => {
  const schema = z.object({});
  const Price = defineCommand('Price', { schema, result: z.object({ total: z.number() }) });

  it('the result of a command passes when it fits its schema', async () => {
    expect(await validateResult(Price, { total: 5 })).toEqual({ total: 5 });
  });

  it('the result of a command that does not fit its schema is refused by its field', async () => {
    const error = await refusalOf(() => validateResult(Price, { total: '5' }), 'INVALID_MESSAGE');
    expect(error.message).toContain('The result of Price: total: ');
  });

  it('the result of a command without a result schema is undefined', async () => {
    expect(await validateResult(defineCommand('Plain', { schema }), ['message'])).toBeUndefined();
  });
});
