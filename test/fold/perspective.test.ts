import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { keyedPerspective, perspective, perspectiveFor } from '../../src/fold/index.js';
import { OrderCancelled, OrderPaid, OrderPlaced } from '../events/shop.js';
import { orders, revenue } from './shop.js';

const model = z.object({ n: z.number(), version: z.number().optional() });
const make = (options: object = {}, name = 'p') => perspective(name, { model, ...options });
const keyed = (options: object = {}) => keyedPerspective('k', { model, initial: { n: 0 }, ...options });
const custom = (options: object = {}) => perspectiveFor<string>()('c', options);
const some = () => ({ n: 1 });

describe('A perspective', () => {
  it('a perspective has its facts, and the types that it reads with their earlier names', () => {
    expect(orders).toMatchObject({
      kind: 'stream',
      name: 'orders',
      version: 1,
      inline: false,
      maxModelBytes: 1e6,
    });
    expect(orders.columns).toEqual({ customer: 'text', status: 'text', cents: 'int' });
    expect(orders.indexes).toEqual([['customer', 'status']]);
    expect(orders.eventTypes).toEqual(['OrderPlaced', 'OrderPaid', 'OrderSettled', 'OrderCancelled']);
    expect(revenue).toMatchObject({ kind: 'keyed', eventTypes: ['OrderPaid', 'OrderSettled'] });
    expect(make({ inline: true, version: 2 })).toMatchObject({ inline: true, version: 2 });
  });

  it('perspectives are frozen, and adding to one makes another', () => {
    const first = make();
    const second = first.starts(OrderPlaced, some);
    expect([first.eventTypes, second.eventTypes]).toEqual([[], ['OrderPlaced']]);
    for (const each of [first, second, keyed(), custom()]) expect(Object.isFrozen(each)).toBe(true);
  });

  it('a perspective of your own tables keeps its functions and its reset', () => {
    const reset = async () => {};
    const stock = custom({ version: 3 })
      .on(OrderPaid, async () => {})
      .resets(reset);
    expect(stock).toMatchObject({ kind: 'custom', name: 'c', version: 3, reset });
    expect(stock.eventTypes).toEqual(['OrderPaid', 'OrderSettled']);
    expect(stock.fingerprint).not.toBe(custom({ version: 3 }).fingerprint);
  });

  it.each<[string, () => { fingerprint: string }, boolean]>([
    ['the same', () => make().starts(OrderPlaced, some), true],
    ['inline', () => make({ inline: true }).starts(OrderPlaced, some), true],
    ['of another version', () => make({ version: 2 }).starts(OrderPlaced, some), false],
    ['with a column', () => make({ columns: { n: 'int' } }).starts(OrderPlaced, some), false],
    ['with another function', () => make().starts(OrderPlaced, () => ({ n: 2 })), false],
    ['with another event', () => make().starts(OrderPaid, some), false],
    ['with one event more', () => make().starts(OrderPlaced, some).ends(OrderCancelled), false],
    [
      'that announces',
      () =>
        make()
          .starts(OrderPlaced, some)
          .announces(OrderPaid, () => undefined),
      false,
    ],
  ])('the fingerprint of a perspective that is %s is the same only for the same code', (_, other, isSame) => {
    const { fingerprint } = make().starts(OrderPlaced, some);
    expect(other().fingerprint === fingerprint).toBe(isSame);
  });

  it('the fingerprint of a keyed perspective depends on its keys and its initial model', () => {
    const by = (key: () => string, initial = { n: 0 }) =>
      keyed({ initial }).on(OrderPaid, key, some).fingerprint;
    expect(by(() => 'a')).toBe(by(() => 'a'));
    expect(by(() => 'a')).not.toBe(by(() => 'b'));
    expect(by(() => 'a')).not.toBe(by(() => 'a', { n: 1 }));
  });
});

describe('A wrong perspective', () => {
  it.each<[string, () => unknown, string]>([
    ['no name', () => make({}, ''), 'name'],
    ['a name with a hyphen', () => make({}, 'my-orders'), 'name'],
    ['a name that begins with a digit', () => make({}, '1st'), 'name'],
    ['a name of our tables', () => make({}, 'wh_outbox'), 'name'],
    ['a name that ends as a version', () => make({}, 'orders_v2'), 'name'],
    ['a name of 51 letters', () => make({}, 'x'.repeat(51)), 'name'],
    ['no options', () => perspective('p', undefined as never), 'model'],
    ['a model that is no schema', () => make({ model: {} }), 'model'],
    ['an unknown option', () => make({ colour: {} }), 'colour'],
    ['columns that are no object', () => make({ columns: ['n'] }), 'columns'],
    ['a column of an unknown type', () => make({ columns: { n: 'money' } }), 'columns'],
    ['a column that every table has', () => make({ columns: { version: 'int' } }), 'columns'],
    ['a column with a hyphen', () => make({ columns: { 'a-b': 'int' } }), 'columns'],
    ['indexes that are no lists', () => make({ indexes: ['n'] }), 'indexes'],
    ['an index of no column', () => make({ indexes: [[]] }), 'indexes'],
    ['an index of a column that is none', () => make({ indexes: [['n']] }), 'indexes'],
    ['an index with a column twice', () => make({ columns: { n: 'int' }, indexes: [['n', 'n']] }), 'indexes'],
    ['an inline that is no boolean', () => make({ inline: 1 }), 'inline'],
    ['a version of 0', () => make({ version: 0 }), 'version'],
    ['a size of 99 bytes', () => make({ maxModelBytes: 99 }), 'maxModelBytes'],
    ['a keyed one that is inline', () => keyed({ inline: true }), 'inline'],
    ['no initial model', () => keyed({ initial: undefined }), 'initial'],
    ['an initial model that is no JSON', () => keyed({ initial: { n: 1n } }), 'initial'],
    ['an initial model that does not fit', () => keyed({ initial: { n: 'x' } }), 'initial'],
    ['a definition that is none', () => make().on({} as never, some), 'definition'],
    ['no definition', () => make().ends(undefined as never), 'definition'],
    ['an event twice', () => make().starts(OrderPaid, some).ends(OrderPaid), 'definition'],
    ['no function that starts', () => make().starts(OrderPaid, undefined as never), 'apply'],
    ['no function that changes', () => make().on(OrderPaid, undefined as never), 'apply'],
    ['no function for the key', () => keyed().on(OrderPaid, 'a' as never, some), 'key'],
    ['no function of a keyed one', () => keyed().on(OrderPaid, () => 'a', undefined as never), 'apply'],
    ['an announcement of no event', () => make().announces(5 as never, () => undefined), 'definition'],
    ['an announcement without a function', () => make().announces(OrderPaid, 5 as never), 'make'],
    ['an option of a custom one', () => custom({ inline: true }), 'inline'],
    ['a handler that is none', () => custom().on(OrderPaid, 5 as never), 'handle'],
    ['a reset that is none', () => custom().resets(5 as never), 'reset'],
  ])('%s is refused with the name of the option', (_, wrong, option) => {
    expect(wrong).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', details: expect.objectContaining({ option }) }),
    );
  });
});
