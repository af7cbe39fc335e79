import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineCommand, defineEvent } from '../../src/messages/index.js';
import { refusalOf } from './refusal.js';

const schema = z.object({ orderId: z.string() });

describe('A definition', () => {
  it('a definition makes frozen messages when it is called', () => {
    const OrderPlaced = defineEvent('OrderPlaced', { schema });
    const message = OrderPlaced({ orderId: 'a' });
    expect(message).toEqual({ definition: OrderPlaced, payload: { orderId: 'a' } });
    expect(Object.isFrozen(message)).toBe(true);
  });

  it('a definition carries its type as its name, for stack traces and debuggers', () => {
    expect(defineEvent('OrderPlaced', { schema }).name).toBe('OrderPlaced');
  });

  it('a definition cannot be changed afterwards', () => {
    const OrderPlaced = defineEvent('OrderPlaced', { schema });
    expect(Object.isFrozen(OrderPlaced)).toBe(true);
    expect(Object.isFrozen(OrderPlaced.upcasters)).toBe(true);
  });

  it('an event goes to its topic, which is its type unless the definition names another', () => {
    expect(defineEvent('OrderPlaced', { schema }).address).toBe('OrderPlaced');
    expect(defineEvent('OrderPlaced', { schema, topic: 'orders' }).address).toBe('orders');
  });

  it('a command goes to the service that its definition names, and to none by default', () => {
    expect(defineCommand('PlaceOrder', { schema, to: 'orders' }).address).toBe('orders');
    expect(defineCommand('PlaceOrder', { schema }).address).toBeUndefined();
  });

  it('a definition without a stream rule has no stream', () => {
    expect(defineEvent('OrderPlaced', { schema }).streamOf({ orderId: 'a' })).toBeNull();
  });

  it('a definition has version 1 by default', () => {
    expect(defineEvent('OrderPlaced', { schema }).schemaVersion).toBe(1);
  });
});

describe('Definitions that are refused', () => {
  const refused = (type: unknown, options: unknown) =>
    refusalOf(() => defineEvent(type as string, options as { schema: typeof schema }), 'INVALID_OPTION');

  it.each([[''], ['  '], ['a\0b'], [undefined], [7]])(
    'a definition is refused when its type is %j',
    async (type) => {
      expect((await refused(type, { schema })).details.option).toBe('type');
    },
  );

  it('a definition is refused when its type is longer than 1000 bytes', async () => {
    expect((await refused('ü'.repeat(501), { schema })).details.option).toBe('type');
  });

  it.each([[undefined], [null], [{}], ['zod'], [{ '~standard': { version: 2 } }]])(
    'a definition is refused when its schema is %j',
    async (wrong) => {
      const error = await refused('OrderPlaced', { schema: wrong });
      expect(error.details.option).toBe('schema');
      expect(error.message).toContain('"OrderPlaced"');
    },
  );

  it('a definition is refused without any options', async () => {
    expect((await refused('OrderPlaced', undefined)).details.option).toBe('schema');
  });

  it('a definition with a misspelt option is refused, with the one that was meant', async () => {
    expect((await refused('OrderPlaced', { schema, steam: () => 'a' })).hint).toBe('Did you mean stream?');
  });

  it('an event with options of a command is refused, and a command with options of an event', async () => {
    expect((await refused('OrderPlaced', { schema, to: 'orders' })).details.option).toBe('to');
    const command = () =>
      defineCommand('PlaceOrder', { schema, topic: 'orders' } as { schema: typeof schema });
    expect((await refusalOf(command, 'INVALID_OPTION')).details.option).toBe('topic');
  });

  it.each([[0], [-1], [1.5], ['2'], [Number.NaN]])(
    'a definition is refused when its version is %j',
    async (version) => {
      expect((await refused('OrderPlaced', { schema, version })).details.option).toBe('version');
    },
  );

  it('a definition without an upcaster from an older version is refused, and names that version', async () => {
    const error = await refused('OrderPlaced', { schema, version: 3, upcast: { 2: (old: unknown) => old } });
    expect(error.message).toContain('no upcaster from version 1');
    expect(error.hint).toContain('{ 1: (old) =>');
  });

  it.each([[{ 1: () => 0 }], [{ 0: () => 0 }], [{ one: () => 0 }]])(
    'a definition is refused when an upcaster would never be used: %j',
    async (upcast) => {
      expect((await refused('OrderPlaced', { schema, upcast })).details.option).toBe('upcast');
    },
  );

  it('a definition is refused when its stream rule is not a function, or its topic is empty', async () => {
    expect((await refused('OrderPlaced', { schema, stream: 'orderId' })).details.option).toBe('stream');
    expect((await refused('OrderPlaced', { schema, topic: '' })).details.option).toBe('topic');
  });

  it('a command is refused when the schema of its result is not a schema', async () => {
    const command = () => defineCommand('PlaceOrder', { schema, result: {} as never });
    expect((await refusalOf(command, 'INVALID_OPTION')).details.option).toBe('result');
  });
});
