// Which event holds its model, and what the error says.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { foldModels, type ModelPerspective, perspective, type StoredEvent } from '../../src/fold/index.js';
import { OrderPaid, OrderPlaced } from '../events/shop.js';
import { id, orders, stored } from './shop.js';

const placed = (version = 1) => stored('OrderPlaced', 'a', version);
const paid = (version = 2) => stored('OrderPaid', 'a', version);

async function errorOf(
  of: ModelPerspective<unknown>,
  events: readonly StoredEvent[],
  model?: object,
): Promise<unknown> {
  const before = new Map(model === undefined ? [] : [[id('a'), { model, version: 1 }]]);
  const held = (await foldModels(of, before, events)).filter((result) => result.kind === 'held');
  expect(held).toHaveLength(1);
  return held[0]?.error;
}

interface Model {
  list: number[];
  at?: Date | undefined;
}
const schema = z.object({ list: z.array(z.number()), at: z.date().optional() });
const starting = (start: () => unknown, maxModelBytes?: number) =>
  perspective('lists', { model: schema, maxModelBytes }).starts(OrderPlaced, start as () => Model);
const changing = (change: (model: Model, payload: { cents: number }) => unknown) =>
  starting(() => ({ list: [1] })).on(OrderPaid, change as (model: Model) => Model);
const thrower = () => {
  throw new Error('no list.');
};

describe('An event that holds its stream', () => {
  it('an event that changes a model where there is none names perspective, type, version and stream', async () => {
    expect(await errorOf(orders, [paid(7)])).toMatchObject({
      code: 'FOLD_FAILED',
      message: `orders: its function for OrderPaid (version 7 of stream ${id('a')}) changes a model, and the stream has none.`,
      details: { name: 'orders', type: 'OrderPaid', version: 7, streamId: id('a') },
    });
  });

  it('an event that starts a model where there is one names the version of that one', async () => {
    expect(await errorOf(orders, [placed(), placed(2)])).toMatchObject({
      code: 'FOLD_FAILED',
      message: expect.stringContaining('starts a model, and the stream has one at version 1'),
    });
  });

  it.each([
    ['throws', starting(thrower), 'threw no list.'],
    ['returns nothing', starting(() => undefined), 'returned nothing'],
    ['returns null', starting(() => null), 'returned nothing'],
    ['returns a promise', starting(async () => thrower()), 'returned a promise'],
    ['returns a bigint', starting(() => ({ list: [1n] })), 'cannot be stored: list[0] is a bigint'],
    ['returns a wrong field', starting(() => ({ list: ['x'] })), 'does not fit the schema: list[0]: '],
    [
      'returns a Date that the schema cannot read back',
      starting(() => ({ list: [], at: new Date() })),
      'schema: at: ',
    ],
    [
      'returns a large model',
      starting(() => ({ list: Array(60).fill(0) }), 100),
      'of 130 bytes; 100 are allowed',
    ],
    ['changes its model', changing((model) => void model.list.push(2)), 'threw Cannot add property'],
    [
      'changes its payload',
      changing((_, payload) => Object.assign(payload, { cents: 0 })),
      'threw Cannot assign',
    ],
  ])('a function that %s holds the stream', async (_, of, text) => {
    const error = await errorOf(of, [placed(), paid()]);
    expect(error).toMatchObject({ code: 'FOLD_FAILED', details: { name: 'lists' } });
    expect((error as Error).message).toContain(text);
  });

  it('a payload that does not fit its schema is the cause of the error', async () => {
    expect(await errorOf(orders, [stored('OrderPlaced', 'a', 1, { cents: 'x' })])).toMatchObject({
      message: expect.stringContaining('cannot read it: OrderPlaced: cents: '),
      cause: { code: 'INVALID_MESSAGE' },
    });
  });

  it('a stored model that does not fit the schema holds the stream, with a hint to raise the version', async () => {
    expect(await errorOf(orders, [paid()], { customer: 'Eve' })).toMatchObject({
      message: expect.stringContaining('was given a model that does not fit the schema: cents: '),
      hint: expect.stringContaining('Raise the version'),
      details: { path: 'cents' },
    });
  });

  it('a schema of models that throws holds the stream', async () => {
    const of = perspective('odd', { model: z.any().transform(thrower) }).starts(
      OrderPlaced,
      () => 1 as never,
    );
    expect(await errorOf(of, [placed()])).toMatchObject({
      message: expect.stringContaining('the schema threw no list.'),
    });
  });
});
