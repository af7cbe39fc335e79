// What an instance tells of messages that went well, and what it logs of those that did not.
import { describe, expect, it } from 'vitest';
import { inProcessTransport, receptor, streamIdOf } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { arrive } from './arrivals.js';
import { OrderPlaced, PlaceOrder, service } from './service.js';

describe('What an instance tells', () => {
  it.each([true, false])(
    'an instance tells of what was handled and published (transaction: %s)',
    async (transaction) => {
      await using db = await createTestDatabase();
      const onPlace = receptor(PlaceOrder, { transaction, name: 'place' }, async ({ orderId }, ctx) => {
        await ctx.publish(OrderPlaced({ orderId }), { messageId: '0198b1c8-0000-7000-8000-000000000001' });
        if (ctx.attempt === 1) throw new Error('not yet');
      });
      await using shop = service(db, {
        receptors: [onPlace],
        retry: { firstDelaySeconds: 0.02 },
        transport: inProcessTransport(),
      });
      const told: object[] = [];
      shop.on('handled', (notice) => told.push({ on: 'handled', ...notice }));
      shop.on('published', (notice) => told.push({ on: 'published', ...notice }));
      await shop.start();
      const messageId = await shop.send(PlaceOrder({ orderId: 'a' }));
      const streamId = streamIdOf('a');
      const durationMs = expect.any(Number);
      await eventually(() => expect(told).toHaveLength(3));
      expect(told).toEqual(
        expect.arrayContaining([
          {
            on: 'handled',
            source: 'inbox',
            messageId,
            type: 'PlaceOrder',
            receptor: 'place',
            streamId,
            attempt: 2,
            durationMs,
          },
          {
            on: 'published',
            source: 'outbox',
            messageId,
            type: 'PlaceOrder',
            destination: 'shop',
            streamId,
            attempt: 1,
            durationMs,
          },
          {
            on: 'published',
            source: 'outbox',
            messageId: '0198b1c8-0000-7000-8000-000000000001',
            type: 'OrderPlaced',
            destination: 'OrderPlaced',
            streamId,
            attempt: 1,
            durationMs,
          },
        ]),
      );
    },
  );

  it('an attempt that is made again is logged in one line, and the last one with its stack', async () => {
    await using db = await createTestDatabase();
    const logged: { readonly level: string; readonly error: string }[] = [];
    const log = (level: string) => (facts: object) =>
      void logged.push({ level, error: (facts as { error: string }).error });
    const onPlace = receptor(PlaceOrder, { retry: { attempts: 2, firstDelaySeconds: 0.02 } }, () => {
      throw new Error('no paper', { cause: new Error('the tray is empty') });
    });
    await using shop = service(db, {
      receptors: [onPlace],
      transport: inProcessTransport(),
      logger: { ...silentLogger, warn: log('warn'), error: log('error') },
    });
    await shop.start();
    await shop.send(PlaceOrder({ orderId: 'a' }));
    await eventually(() => expect(logged).toHaveLength(2));
    expect(logged[0]).toEqual({
      level: 'warn',
      error: 'Error: no paper caused by Error: the tray is empty',
    });
    expect(logged[1]).toMatchObject({ level: 'error', error: expect.stringMatching(/no paper\n +at /) });
  });
});

describe('A message of a newer version', () => {
  it('a message of a newer version waits, counts no attempt, and is told of once', async () => {
    await using db = await createTestDatabase();
    const warnings: string[] = [];
    const told: string[] = [];
    const names = ['one', 'two'];
    const receptors = [
      ...names.map((name) => receptor(OrderPlaced, { name, retry: { attempts: 1 } }, () => {})),
      receptor(PlaceOrder, { retry: { attempts: 1 } }, () => {}),
    ];
    await using shop = service(db, {
      receptors,
      transport: inProcessTransport(),
      logger: { ...silentLogger, warn: (_, text) => void warnings.push(text) },
    });
    shop.on('failure', ({ type }) => told.push(type)).on('deadLetter', ({ type }) => told.push(type));
    await shop.start();
    for (const orderId of ['a', 'b']) await arrive(db, 'PlaceOrder', { orderId }, { schemaVersion: 2 });
    await arrive(db, 'OrderPlaced', { orderId: 'c' }, { schemaVersion: 7 });
    const waiting = () =>
      db.pool.query('select attempts from wh_inbox where scheduled_for > now() and error is not null');
    await eventually(async () => expect((await waiting()).rows).toEqual(Array(3).fill({ attempts: 0 })));
    expect(warnings).toEqual(Array(2).fill('Messages of a newer version wait for newer code'));
    expect(told).toEqual([]);
  });
});

describe('Receptors that are added later', () => {
  it('a receptor that was added before the start handles, with the policy and what is around all', async () => {
    await using db = await createTestDatabase();
    const order: string[] = [];
    await using shop = service(db, {
      transport: inProcessTransport(),
      retry: { firstDelaySeconds: 0.02 },
      around: async (message, _, next) => {
        order.push(`around ${message.type}`);
        await next();
      },
    });
    shop.add(
      receptor(PlaceOrder, async ({ orderId }, ctx) => {
        if (ctx.attempt === 1) throw new Error('not yet');
        await shop.publish(OrderPlaced({ orderId }), { tx: ctx.tx });
      }),
      receptor(OrderPlaced, () => void order.push('handled')),
    );
    await shop.start();
    shop.on('failure', () => {});
    await shop.send(PlaceOrder({ orderId: 'a' }));
    const twice = ['around PlaceOrder', 'around PlaceOrder', 'around OrderPlaced', 'handled'];
    await eventually(() => expect(order).toEqual(twice));
  });

  it('a receptor is refused after the start, after the stop, and as a second one of a command', async () => {
    await using db = await createTestDatabase();
    const onPlace = receptor(PlaceOrder, () => {});
    await using shop = service(db, { receptors: [onPlace], transport: inProcessTransport() });
    expect(() => shop.add(onPlace)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
    expect(() => shop.add({} as never)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
    await shop.start();
    expect(() => shop.add(receptor(OrderPlaced, () => {}))).toThrow(
      expect.objectContaining({ code: 'ALREADY_STARTED', hint: expect.stringContaining('before start') }),
    );
    await shop.stop();
    expect(() => shop.add(onPlace)).toThrow(expect.objectContaining({ code: 'DISPOSED' }));
  });
});
