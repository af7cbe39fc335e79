import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { foldModels, keyedPerspective, perspective } from '../../src/fold/index.js';
import { defineEvent } from '../../src/messages/index.js';
import { OrderPaid, OrderPlaced } from '../events/shop.js';
import { id, orders, revenue, stored } from './shop.js';

const none = new Map();
const paid = (stream: string, data: object = {}) => stored('OrderPaid', stream, 2, data);
const words = keyedPerspective('words', {
  model: z.object({ seen: z.array(z.string()) }),
  initial: { seen: [] },
}).on(
  OrderPlaced,
  ({ customer }) => customer.split(' ').filter((word) => word !== ''),
  ({ seen }, { customer, cents }) => {
    if (cents < 0 && seen.length > 0) throw new Error('less than nothing');
    return { seen: [...seen, customer] };
  },
);
const say = (stream: string, version: number, customer: unknown, cents = 1) =>
  stored('OrderPlaced', stream, version, { customer, cents });

describe('foldModels of keyed perspectives', () => {
  it('events of many streams become one model for each key, which counts its events', async () => {
    const next = { paidAt: '2026-11-18T01:00:00Z' };
    const results = await foldModels(revenue, none, [paid('a'), paid('b', next), paid('c')]);
    expect(results).toMatchObject([
      { kind: 'changed', id: '2026-11-17', model: { orders: 2, cents: 10 }, version: 2 },
      { kind: 'changed', id: '2026-11-18', model: { orders: 1, cents: 5 }, version: 1 },
    ]);
  });

  it('an event with several keys changes each of their models once, and one without keys none', async () => {
    const results = await foldModels(words, none, [say('a', 1, 'x y x'), say('a', 2, ''), say('b', 1, 'y')]);
    expect(results).toMatchObject([
      { id: 'x', model: { seen: ['x y x'] } },
      { id: 'y', model: { seen: ['x y x', 'y'] } },
    ]);
  });

  it('a failing event holds the model of its key, and its other models go on', async () => {
    const bad = say('b', 1, 'x y', -1);
    const results = await foldModels(words, none, [say('a', 1, 'x'), bad, say('c', 1, 'x z')]);
    expect(results).toMatchObject([
      { kind: 'changed', id: 'x', model: { seen: ['x'] }, version: 1 },
      { kind: 'held', id: 'x', streamId: id('b'), event: bad, error: { code: 'FOLD_FAILED' } },
      { kind: 'changed', id: 'y', model: { seen: ['x y'] } },
      { kind: 'changed', id: 'z', model: { seen: ['x z'] } },
    ]);
  });

  it('an event whose keys cannot be known holds its stream, and other streams go on', async () => {
    const bad = say('a', 1, 5);
    const results = await foldModels(words, none, [bad, say('a', 2, 'x'), say('b', 1, 'x')]);
    expect(results).toMatchObject([
      { kind: 'changed', id: 'x', model: { seen: ['x'] }, version: 1, event: { streamId: id('b') } },
      { kind: 'held', id: null, streamId: id('a'), event: bad },
    ]);
  });

  it.each([
    ['empty', ''],
    ['no text', 5],
    ['half a surrogate pair', '\ud800'],
    ['too long', 'x'.repeat(2001)],
    ['missing', undefined],
  ])('a key that is %s is refused', async (_, key) => {
    const wrong = keyedPerspective('wrong', { model: z.number(), initial: 0 }).on(
      OrderPaid,
      () => key as string,
      (n) => n + 1,
    );
    const [held] = await foldModels(wrong, none, [paid('a')]);
    expect(held).toMatchObject({
      kind: 'held',
      id: null,
      error: { message: expect.stringContaining('returned what is not a key') },
    });
  });
});

describe('Announcements', () => {
  const Changed = defineEvent('Changed', { schema: z.object({ from: z.string(), to: z.string() }) });
  const announcing = orders.announces(Changed, (order, before) =>
    order.cents === 0 ? undefined : { from: before?.status ?? 'nothing', to: order.status },
  );

  it('a change is announced for every event that made one, with the model before it', async () => {
    const events = [stored('OrderPlaced', 'a', 1), stored('OrderPaid', 'a', 2)];
    const [changed] = await foldModels(announcing, none, events);
    expect(changed).toMatchObject({
      announcements: [
        { message: { definition: Changed, payload: { from: 'nothing', to: 'placed' } }, event: events[0] },
        { message: { definition: Changed, payload: { from: 'placed', to: 'paid' } }, event: events[1] },
      ],
    });
  });

  it('nothing is announced where the function returns undefined, nor when a model ends', async () => {
    const events = [stored('OrderPlaced', 'a', 1, { cents: 0 }), stored('OrderCancelled', 'a', 2)];
    expect(await foldModels(announcing, none, events)).toMatchObject([{ kind: 'ended', announcements: [] }]);
  });

  it('an announcement that is not valid holds the stream before the event', async () => {
    const wrong = orders.announces(
      Changed,
      ({ status }) => ({ from: status === 'paid' ? 5 : '', to: '' }) as never,
    );
    const results = await foldModels(wrong, none, [
      stored('OrderPlaced', 'a', 1),
      stored('OrderPaid', 'a', 2),
    ]);
    expect(results).toMatchObject([
      { kind: 'changed', model: { status: 'placed' }, version: 1 },
      {
        kind: 'held',
        error: { message: expect.stringContaining('announced what is not valid: Changed: from: ') },
      },
    ]);
  });

  it('the first model of a key is announced with null before it', async () => {
    const earlier: unknown[] = [];
    const keyed = revenue.announces(Changed, (_, before) => void earlier.push(before));
    await foldModels(keyed, none, [paid('a'), paid('b')]);
    expect(earlier).toEqual([null, { orders: 1, cents: 5 }]);
  });

  it('a model that is announced cannot be changed by the function', async () => {
    const wrong = perspective('wrong', { model: z.object({ n: z.number() }) })
      .starts(OrderPlaced, () => ({ n: 1 }))
      .announces(Changed, (model) => void Object.assign(model, { n: 2 }));
    expect(await foldModels(wrong, none, [stored('OrderPlaced', 'a', 1)])).toMatchObject([{ kind: 'held' }]);
  });
});
