import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineCommand, inProcessTransport, receptor } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { arrive, deadLetters } from './arrivals.js';
import { OrderPlaced, PlaceOrder, service } from './service.js';

const once = { attempts: 1 };
const fail = (thrown: unknown) => () => {
  throw thrown;
};

const unprintable = Object.assign(Object.create(null) as object, { secret: 1 });
const treacherous = Object.defineProperty(new Error('treacherous'), 'stack', {
  get: () => {
    throw new Error('no stack for you');
  },
});

const things: [string, unknown, RegExp][] = [
  ['undefined', undefined, /undefined/],
  ['null', null, /null/],
  ['a text', 'no money', /no money/],
  ['a number', 42, /42/],
  ['a symbol', Symbol('odd'), /odd/],
  ['a plain object', { reason: 'no money' }, /no money/],
  ['an object without a prototype', unprintable, /./],
  ['an error whose stack cannot be read', treacherous, /./],
];

describe.each([true, false])('A receptor (transaction: %s) that throws', (transaction) => {
  it.each(things)(
    'a receptor that throws %s has failed with an error that says so, and its stream goes on',
    async (_, thrown, text) => {
      await using db = await createTestDatabase();
      const steps: number[] = [];
      const onPlaced = receptor(OrderPlaced, { transaction, retry: once }, ({ step }) => {
        steps.push(step);
        if (step === 1) fail(thrown)();
      });
      for (const step of [1, 2]) await arrive(db, 'OrderPlaced', { orderId: 'a', step });
      await using shop = service(db, { receptors: [onPlaced], transport: inProcessTransport() });
      await shop.start();
      await eventually(() => expect(steps).toEqual([1, 2]));
      expect(await deadLetters(db)).toMatchObject([{ attempts: 1, error: expect.stringMatching(text) }]);
    },
  );

  it('a receptor whose promise rejects with nothing has failed', async () => {
    await using db = await createTestDatabase();
    const onPlaced = receptor(
      OrderPlaced,
      { transaction, retry: once },
      () => new Promise<void>((_, reject) => setTimeout(() => reject(), 10)),
    );
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    await using shop = service(db, { receptors: [onPlaced], transport: inProcessTransport() });
    await shop.start();
    await eventually(async () => expect(await deadLetters(db)).toHaveLength(1));
  });

  it('a receptor that throws after a sending it does not await sends nothing, and the process lives', async () => {
    await using db = await createTestDatabase();
    const onPlaced = receptor(OrderPlaced, { transaction, retry: once }, (_, { send }) => {
      void send(PlaceOrder({ orderId: 'good' }), { to: 'warehouse' });
      void send(PlaceOrder({ orderId: 7 as unknown as string }), { to: 'warehouse' });
      throw new Error('after sending');
    });
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    await using shop = service(db, { receptors: [onPlaced], transport: inProcessTransport() });
    await shop.start();
    await eventually(async () => {
      expect(await deadLetters(db)).toMatchObject([{ error: expect.stringMatching('after sending') }]);
    });
    expect((await db.pool.query('select 1 from wh_outbox')).rows).toEqual([]);
  });
});

describe.each([true, false])('Invoking a receptor (transaction: %s)', (transaction) => {
  const Ask = defineCommand('Ask', { schema: z.object({}), to: 'shop' });
  it.each([undefined, null, 'a text'])('invoke throws %j when the receptor does', async (thrown) => {
    await using db = await createTestDatabase();
    const onAsk = receptor(Ask, { transaction }, fail(thrown));
    await using shop = service(db, { receptors: [onAsk] });
    const outcome = await shop.invoke(Ask({})).then(
      () => 'it went well',
      (error: unknown) => ({ error }),
    );
    expect(outcome).toEqual({ error: thrown });
  });
});
