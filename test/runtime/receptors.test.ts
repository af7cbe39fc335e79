import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  defineEvent,
  FinalError,
  inProcessTransport,
  receptor,
  type WhizbangError,
} from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { arrive, deadLetters } from './arrivals.js';
import { OrderPlaced, PlaceOrder, service } from './service.js';

const quickly = { firstDelaySeconds: 0.02 };

describe('Receptors', () => {
  it('a receptor of an event that failed runs again, and the others do not', async () => {
    await using db = await createTestDatabase();
    const runs: string[] = [];
    const first = receptor(OrderPlaced, { name: 'first' }, () => void runs.push('first'));
    const second = receptor(OrderPlaced, { name: 'second', retry: quickly }, (_, { attempt }) => {
      runs.push(`second ${attempt}`);
      if (attempt < 3) throw new Error('not yet');
    });
    const third = receptor(OrderPlaced, { name: 'third', transaction: false }, () => void runs.push('third'));
    await using shop = service(db, { receptors: [first, second, third], transport: inProcessTransport() });
    await shop.start();
    await shop.publish(OrderPlaced({ orderId: 'a' }));
    await eventually(() => expect(runs).toEqual(['first', 'second 1', 'third', 'second 2', 'second 3']));
    await eventually(async () => expect((await db.pool.query('select 1 from wh_inbox')).rows).toEqual([]));
  });

  it('messages that a receptor returns are sent with correlation and causation', async () => {
    await using db = await createTestDatabase();
    const envelopes: { correlationId: string; causationId: string | null; services: string[] }[] = [];
    const onPlace = receptor(PlaceOrder, ({ orderId }) => [
      OrderPlaced({ orderId, step: 1 }),
      OrderPlaced({ orderId, step: 2 }),
    ]);
    const onPlaced = receptor(OrderPlaced, (_, { envelope }) => {
      const { correlationId, causationId, hops } = envelope;
      envelopes.push({ correlationId, causationId, services: hops.map((hop) => hop.service) });
    });
    await using shop = service(db, { receptors: [onPlace, onPlaced], transport: inProcessTransport() });
    await shop.start();
    const id = await shop.send(PlaceOrder({ orderId: 'a' }));
    const expected = { correlationId: id, causationId: id, services: ['shop', 'shop'] };
    await eventually(() => expect(envelopes).toEqual([expected, expected]));
  });

  it('a message whose receptor throws a final error is not retried', async () => {
    await using db = await createTestDatabase();
    let runs = 0;
    const onPlaced = receptor(OrderPlaced, () => {
      runs++;
      throw new FinalError('no such customer');
    });
    await using shop = service(db, { receptors: [onPlaced], transport: inProcessTransport() });
    await shop.start();
    await shop.publish(OrderPlaced({ orderId: 'a' }));
    await eventually(async () => {
      expect(await deadLetters(db)).toMatchObject([
        { attempts: 1, error: expect.stringContaining('no such customer') },
      ]);
    });
    expect(runs).toBe(1);
  });

  it('a receptor that takes too long is given up, and cannot write any more', async () => {
    await using db = await createTestDatabase();
    await db.pool.query('create table effects (n int)');
    let late: Promise<unknown> | undefined;
    let aborted: unknown;
    const onPlaced = receptor(OrderPlaced, { timeoutSeconds: 0.2, retry: { attempts: 1 } }, (_, ctx) => {
      late = new Promise((resolve) => {
        ctx.signal.addEventListener('abort', () => {
          aborted = ctx.signal.reason;
          setTimeout(() => resolve(ctx.tx.query('insert into effects values (1)')), 50);
        });
      });
      return late as Promise<void>;
    });
    await using shop = service(db, { receptors: [onPlaced], transport: inProcessTransport() });
    await shop.start();
    await shop.publish(OrderPlaced({ orderId: 'a' }));
    await eventually(async () => expect(await deadLetters(db)).toHaveLength(1));
    expect((aborted as WhizbangError).code).toBe('HANDLER_TIMEOUT');
    await expect(late).rejects.toMatchObject({ code: 'DISPOSED' });
    expect((await db.pool.query('select 1 from effects')).rows).toEqual([]);
  });

  it('a message with a bad payload is a dead letter with the field, and its stream goes on', async () => {
    await using db = await createTestDatabase();
    const steps: number[] = [];
    const onPlaced = receptor(OrderPlaced, ({ step }) => void steps.push(step));
    await using shop = service(db, { receptors: [onPlaced], transport: inProcessTransport() });
    await shop.start();
    await arrive(db, 'OrderPlaced', { orderId: 'a', step: 'one' });
    await arrive(db, 'OrderPlaced', { orderId: 'a', step: 2 });
    await eventually(() => expect(steps).toEqual([2]));
    expect(await deadLetters(db)).toMatchObject([
      { attempts: 1, error: expect.stringMatching(/OrderPlaced.*step/) },
    ]);
  });

  it('a receptor gets an old payload in the current shape', async () => {
    await using db = await createTestDatabase();
    const Renamed = defineEvent('Renamed', {
      schema: z.object({ orderId: z.string(), name: z.object({ first: z.string() }) }),
      version: 3,
      upcast: {
        1: (old) => ({ ...(old as object), name: 'nobody' }),
        2: (old: { orderId: string; name: string }) => ({ ...old, name: { first: old.name } }),
      },
    });
    const names: string[] = [];
    const onRenamed = receptor(Renamed, ({ name }) => void names.push(name.first));
    await using shop = service(db, { receptors: [onRenamed], transport: inProcessTransport() });
    await shop.start();
    await arrive(db, 'Renamed', { orderId: 'a' });
    await arrive(db, 'Renamed', { orderId: 'a', name: 'Ann' }, { schemaVersion: 2 });
    await arrive(db, 'Renamed', { orderId: 'a', name: { first: 'Bob' } }, { schemaVersion: 3 });
    await eventually(() => expect(names).toEqual(['nobody', 'Ann', 'Bob']));
  });

  it('a receptor without a transaction sends what it publishes', async () => {
    await using db = await createTestDatabase();
    const seen: string[] = [];
    const onPlace = receptor(PlaceOrder, { transaction: false }, async ({ orderId }, ctx) => {
      expect(ctx.tx).toBeUndefined();
      await ctx.publish(OrderPlaced({ orderId }));
    });
    const onPlaced = receptor(OrderPlaced, ({ orderId }) => void seen.push(orderId));
    await using shop = service(db, { receptors: [onPlace, onPlaced], transport: inProcessTransport() });
    await shop.start();
    await shop.send(PlaceOrder({ orderId: 'a' }));
    await eventually(() => expect(seen).toEqual(['a']));
  });

  it('a receptor without a transaction fails when what it sends is refused', async () => {
    await using db = await createTestDatabase();
    const onPlace = receptor(
      PlaceOrder,
      { transaction: false, retry: { attempts: 1 } },
      async ({ orderId }, ctx) => {
        await ctx.publish(OrderPlaced({ orderId }), { expectedVersion: 7 });
      },
    );
    await using shop = service(db, { receptors: [onPlace], transport: inProcessTransport() });
    await shop.start();
    await shop.send(PlaceOrder({ orderId: 'a' }));
    await eventually(async () => {
      expect(await deadLetters(db)).toMatchObject([
        { event_type: 'PlaceOrder', error: expect.stringContaining('version') },
      ]);
    });
  });

  it.each([
    [
      'a command has two receptors',
      [receptor(PlaceOrder, () => {}), receptor(PlaceOrder, { name: 'other' }, () => {})],
    ],
    [
      'two receptors of an event have one name',
      [receptor(OrderPlaced, () => {}), receptor(OrderPlaced, () => {})],
    ],
  ])('a service refuses its receptors when %s', async (_, receptors) => {
    await using db = await createTestDatabase({ template: 'empty' });
    expect(() => service(db, { receptors })).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
  });
});

describe('Receptors of one event with several topics', () => {
  it('every receptor of an event gets the messages of all its topics', async () => {
    await using db = await createTestDatabase();
    const schema = z.object({ from: z.string() });
    const AtHome = defineEvent('ParcelMoved', { schema, topic: 'parcels at home' });
    const Abroad = defineEvent('ParcelMoved', { schema, topic: 'parcels abroad' });
    const seen: string[] = [];
    const one = receptor(AtHome, { name: 'one' }, ({ from }) => void seen.push(`one: ${from}`));
    const two = receptor(Abroad, { name: 'two' }, ({ from }) => void seen.push(`two: ${from}`));
    await using shop = service(db, { receptors: [one, two] });
    await shop.start();
    await shop.publish(AtHome({ from: 'home' }));
    await shop.publish(Abroad({ from: 'abroad' }));
    await eventually(() => {
      expect(seen.sort()).toEqual(['one: abroad', 'one: home', 'two: abroad', 'two: home']);
    });
  });
});
