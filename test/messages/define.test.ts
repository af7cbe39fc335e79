import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineCommand, defineEvent } from '../../src/messages/index.js';
import { refusalOf } from './refusal.js';

const schema = z.object({ orderId: z.string() });

describe('A definition', () => {
  it('makes messages when it is called', () => {
    const OrderPlaced = defineEvent('OrderPlaced', { schema });
    const message = OrderPlaced({ orderId: 'a' });
    expect(message).toEqual({ definition: OrderPlaced, payload: { orderId: 'a' } });
    expect(Object.isFrozen(message)).toBe(true);
  });

  it('carries its type as its name, for stack traces and debuggers', () => {
    expect(defineEvent('OrderPlaced', { schema }).name).toBe('OrderPlaced');
  });

  it('cannot be changed afterwards', () => {
    const OrderPlaced = defineEvent('OrderPlaced', { schema });
    expect(Object.isFrozen(OrderPlaced)).toBe(true);
    expect(Object.isFrozen(OrderPlaced.upcasters)).toBe(true);
  });

  it('of an event goes to the topic, which is its type unless it says otherwise', () => {
    expect(defineEvent('OrderPlaced', { schema }).address).toBe('OrderPlaced');
    expect(defineEvent('OrderPlaced', { schema, topic: 'orders' }).address).toBe('orders');
  });

  it('of a command goes to the service that it names, and to none unless it does', () => {
    expect(defineCommand('PlaceOrder', { schema, to: 'orders' }).address).toBe('orders');
    expect(defineCommand('PlaceOrder', { schema }).address).toBeUndefined();
  });

  it('has no stream unless it has a rule', () => {
    expect(defineEvent('OrderPlaced', { schema }).streamOf({ orderId: 'a' })).toBeNull();
  });

  it('is of version 1 unless it says otherwise', () => {
    expect(defineEvent('OrderPlaced', { schema }).schemaVersion).toBe(1);
  });
});

describe('A definition is refused', () => {
  const refused = (type: unknown, options: unknown) =>
    refusalOf(() => defineEvent(type as string, options as { schema: typeof schema }), 'INVALID_OPTION');

  it.each([[''], ['  '], ['a\0b'], [undefined], [7]])('when its type is %j', async (type) => {
    expect((await refused(type, { schema })).details.option).toBe('type');
  });

  it.each([[undefined], [null], [{}], ['zod'], [{ '~standard': { version: 2 } }]])(
    'when its schema is %j',
    async (wrong) => {
      const error = await refused('OrderPlaced', { schema: wrong });
      expect(error.details.option).toBe('schema');
      expect(error.message).toContain('"OrderPlaced"');
    },
  );

  it('when there are no options at all', async () => {
    expect((await refused('OrderPlaced', undefined)).details.option).toBe('schema');
  });

  it('when an option is misspelt, with the one that was meant', async () => {
    expect((await refused('OrderPlaced', { schema, steam: () => 'a' })).hint).toBe('Did you mean stream?');
  });

  it('when an event has the options of a command, and the other way round', async () => {
    expect((await refused('OrderPlaced', { schema, to: 'orders' })).details.option).toBe('to');
    const command = () =>
      defineCommand('PlaceOrder', { schema, topic: 'orders' } as { schema: typeof schema });
    expect((await refusalOf(command, 'INVALID_OPTION')).details.option).toBe('topic');
  });

  it.each([[0], [-1], [1.5], ['2'], [Number.NaN]])('when its version is %j', async (version) => {
    expect((await refused('OrderPlaced', { schema, version })).details.option).toBe('version');
  });

  it('when there is no upcaster from an older version, which it names', async () => {
    const error = await refused('OrderPlaced', { schema, version: 3, upcast: { 2: (old: unknown) => old } });
    expect(error.message).toContain('no upcaster from version 1');
    expect(error.hint).toContain('{ 1: (old) =>');
  });

  it.each([[{ 1: () => 0 }], [{ 0: () => 0 }], [{ one: () => 0 }]])(
    'when an upcaster would never be used: %j',
    async (upcast) => {
      expect((await refused('OrderPlaced', { schema, upcast })).details.option).toBe('upcast');
    },
  );

  it('when the stream rule is no function, or the topic no name', async () => {
    expect((await refused('OrderPlaced', { schema, stream: 'orderId' })).details.option).toBe('stream');
    expect((await refused('OrderPlaced', { schema, topic: '' })).details.option).toBe('topic');
  });

  it('when the schema of its result is none', async () => {
    const command = () => defineCommand('PlaceOrder', { schema, result: {} as never });
    expect((await refusalOf(command, 'INVALID_OPTION')).details.option).toBe('result');
  });
});
