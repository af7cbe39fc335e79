import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { foldModels, perspective } from '../../src/fold/index.js';
import { defineEvent } from '../../src/messages/index.js';
import { OrderPaid, OrderPlaced } from '../events/shop.js';
import { id, orders, stored } from './shop.js';

const none = new Map();
const placed = (stream = 'a', version = 1) => stored('OrderPlaced', stream, version);
const paid = (stream = 'a', version = 2) => stored('OrderPaid', stream, version);
const model = z.object({ n: z.number() });

describe('foldModels of single streams', () => {
  it('events of several streams become a model each, at the version of its last event', async () => {
    const results = await foldModels(orders, none, [placed('a'), placed('b'), paid('a')]);
    expect(results).toMatchObject([
      { kind: 'changed', id: id('a'), model: { customer: 'Ada', cents: 5, status: 'paid' }, version: 2 },
      { kind: 'changed', id: id('b'), model: { status: 'placed' }, version: 1 },
    ]);
  });

  it('events up to the version of the model are dropped, and make no result', async () => {
    const before = new Map([
      [id('a'), { model: { customer: 'Eve', cents: 1, status: 'placed' }, version: 1 }],
    ]);
    expect(await foldModels(orders, before, [placed()])).toEqual([]);
    const [changed] = await foldModels(orders, before, [placed(), paid(), paid()]);
    expect(changed).toMatchObject({
      kind: 'changed',
      model: { customer: 'Eve', status: 'paid' },
      version: 2,
    });
  });

  it('events of types that a perspective does not name are passed over', async () => {
    expect(await foldModels(orders, none, [stored('OrderPacked', 'a', 1)])).toEqual([]);
  });

  it('an event under an earlier name of its type is applied', async () => {
    const [changed] = await foldModels(orders, none, [placed(), stored('OrderSettled', 'a', 2)]);
    expect(changed).toMatchObject({ kind: 'changed', model: { status: 'paid' } });
  });

  it('a model that has ended is null at the version of that event, and can start again', async () => {
    const ended = await foldModels(orders, none, [placed(), stored('OrderCancelled', 'a', 2)]);
    expect(ended).toMatchObject([{ kind: 'ended', id: id('a'), model: null, version: 2 }]);
    const before = new Map([[id('a'), { model: null, version: 2 }]]);
    expect(await foldModels(orders, before, [placed('a', 1)])).toEqual([]);
    const [again] = await foldModels(orders, before, [placed('a', 3)]);
    expect(again).toMatchObject({ kind: 'changed', version: 3 });
  });

  it('an event that ends a model which does not exist is no failure', async () => {
    const results = await foldModels(orders, none, [stored('OrderCancelled', 'a', 1)]);
    expect(results).toMatchObject([{ kind: 'ended', version: 1 }]);
  });

  it('a failing event holds its stream behind what was applied, and other streams go on', async () => {
    const bad = stored('OrderPaid', 'a', 2, { paidAt: 'never' });
    const results = await foldModels(orders, none, [placed('a'), bad, placed('b'), paid('a', 3), paid('b')]);
    expect(results).toMatchObject([
      { kind: 'changed', id: id('a'), model: { status: 'placed' }, version: 1 },
      { kind: 'held', id: id('a'), streamId: id('a'), event: bad, error: { code: 'FOLD_FAILED' } },
      { kind: 'changed', id: id('b'), model: { status: 'paid' }, version: 2 },
    ]);
  });

  it('a model that is held already is left alone', async () => {
    const model = { customer: 'Eve', cents: 1, status: 'placed' };
    const before = new Map([[id('a'), { model, version: 1, held: true }]]);
    expect(await foldModels(orders, before, [paid()])).toEqual([]);
  });

  it('the models before can be read by the ids that the events concern', async () => {
    const asked: (readonly string[])[] = [];
    const read = async (ids: readonly string[]) => {
      asked.push(ids);
      return new Map([[id('a'), { model: { customer: 'Eve', cents: 1, status: 'placed' }, version: 1 }]]);
    };
    const results = await foldModels(orders, read, [paid('a'), placed('b'), paid('b')]);
    expect(asked).toEqual([[id('a'), id('b')]]);
    expect(results).toMatchObject([{ model: { customer: 'Eve' } }, { model: { customer: 'Ada' } }]);
  });

  it('schemas and upcasters that return a promise are awaited', async () => {
    const Later = defineEvent('Later', { schema: z.object({ n: z.number() }).refine(async () => true) });
    const later = perspective('later', { model: model.refine(async ({ n }) => n < 2) }).starts(
      Later,
      ({ n }) => ({
        n,
      }),
    );
    const events = [stored('Later', 'a', 1, { n: 1 }), stored('Later', 'b', 1, { n: 2 })];
    expect(await foldModels(later, none, events)).toMatchObject([{ kind: 'changed' }, { kind: 'held' }]);
  });
});

describe('The model that is stored and the model that functions get', () => {
  const dated = perspective('dated', {
    model: z.object({ at: z.coerce.date(), days: z.number().default(0) }),
  })
    .starts(OrderPlaced, () => ({ at: new Date('2026-11-17'), days: 1 }))
    .on(OrderPaid, ({ at, days }) => ({ at: new Date(at.getTime() + 1), days, more: true }));

  it('a Date is stored as JSON and read back by the schema, also between two events of a batch', async () => {
    const [changed] = await foldModels(dated, none, [placed(), paid()]);
    const at = '2026-11-17T00:00:00.001Z';
    expect(changed).toMatchObject({
      model: { at, days: 1, more: true },
      value: { at: new Date(at), days: 1 },
    });
    expect((changed as { value: object }).value).not.toHaveProperty('more');
  });

  it('a stored model is read by the schema before it is given to a function', async () => {
    const before = new Map([[id('a'), { model: { at: '2026-11-17' }, version: 1 }]]);
    const [changed] = await foldModels(dated, before, [paid()]);
    expect(changed).toMatchObject({ model: { days: 0 } });
  });

  it('a model and its JSON are frozen in the result', async () => {
    const [changed] = await foldModels(orders, none, [placed()]);
    expect(Object.isFrozen((changed as { model: object }).model)).toBe(true);
    expect(Object.isFrozen((changed as { value: object }).value)).toBe(true);
  });
});
