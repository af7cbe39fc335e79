import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Around, defineCommand, inProcessTransport, receptor } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { deadLetters } from './arrivals.js';
import { OrderPlaced, PlaceOrder, service } from './service.js';

const transport = inProcessTransport;
const once = { attempts: 1 };

describe('What runs around receptors', () => {
  it('the function of the service runs outside of that of the receptor, in the transaction', async () => {
    await using db = await createTestDatabase();
    await db.pool.query('create table notes (text text)');
    const order: string[] = [];
    const around =
      (name: string): Around =>
      async (message, ctx, next) => {
        order.push(`${name} before ${message.type} ${ctx.attempt}`);
        await ctx.tx?.query('insert into notes values ($1)', [name]);
        await next();
        order.push(`${name} after`);
      };
    const onPlace = receptor(PlaceOrder, { around: around('own') }, ({ orderId }) => {
      order.push('handler');
      return OrderPlaced({ orderId });
    });
    const onPlaced = receptor(OrderPlaced, () => void order.push('sent'));
    await using shop = service(db, {
      receptors: [onPlace, onPlaced],
      around: around('all'),
      transport: transport(),
    });
    await shop.start();
    await shop.send(PlaceOrder({ orderId: 'a' }));
    await eventually(() => expect(order.at(-1)).toBe('all after'));
    await eventually(() => expect(order).toContain('sent'));
    expect(order.slice(0, 5)).toEqual([
      'all before PlaceOrder 1',
      'own before PlaceOrder 1',
      'handler',
      'own after',
      'all after',
    ]);
    await eventually(async () =>
      expect((await db.pool.query('select text from notes order by 1')).rows).toEqual(
        ['all', 'all', 'own'].map((text) => ({ text })),
      ),
    );
  });

  it('what it throws fails the receptor, and what it catches does not', async () => {
    await using db = await createTestDatabase();
    const around: Around = async (message, _, next) => {
      if (message.type === 'OrderPlaced') throw new Error('of the function around');
      await next().catch(() => {});
    };
    let runs = 0;
    const fail = () => {
      runs++;
      throw new Error('of the receptor');
    };
    await using shop = service(db, {
      receptors: [receptor(PlaceOrder, fail), receptor(OrderPlaced, fail)],
      around,
      retry: once,
      transport: transport(),
    });
    await shop.start();
    await shop.send(PlaceOrder({ orderId: 'a' }));
    await shop.publish(OrderPlaced({ orderId: 'b' }));
    await eventually(async () =>
      expect(await deadLetters(db)).toMatchObject([
        { event_type: 'OrderPlaced', error: expect.stringContaining('of the function around') },
      ]),
    );
    await eventually(async () => expect((await db.pool.query('select 1 from wh_inbox')).rows).toEqual([]));
    expect(runs).toBe(1);
  });

  it('a receptor that is not awaited is finished all the same, and its result is used', async () => {
    await using db = await createTestDatabase();
    const PriceOf = defineCommand('PriceOf', {
      schema: z.object({ sku: z.string() }),
      result: z.object({ cents: z.number() }),
    });
    const onPrice = receptor(PriceOf, { around: (_, __, next) => void next() }, async () => {
      await new Promise(setImmediate);
      return { cents: 300 };
    });
    await using shop = service(db, { receptors: [onPrice], transport: transport() });
    expect(await shop.invoke(PriceOf({ sku: 'tea' }))).toEqual({ cents: 300 });
  });
});
