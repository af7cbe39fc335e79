import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineCommand, inProcessTransport, receptor, type Whizbang } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { OrderPlaced, PlaceOrder, service } from './service.js';

const Double = defineCommand('Double', { schema: z.object({ n: z.number() }), result: z.number() });
const Quadruple = defineCommand('Quadruple', { schema: z.object({ n: z.number() }), result: z.number() });

describe('Invoking', () => {
  it.each([true, false])(
    'invoke with an aborted signal runs nothing (transaction: %s)',
    async (transaction) => {
      await using db = await createTestDatabase();
      let runs = 0;
      const double = receptor(Double, { transaction }, ({ n }) => {
        runs++;
        return n * 2;
      });
      await using shop = service(db, { receptors: [double] });
      const signal = AbortSignal.abort(new Error('the request was cancelled'));
      await expect(shop.invoke(Double({ n: 1 }), { signal })).rejects.toThrow('the request was cancelled');
      expect(runs).toBe(0);
    },
  );

  it('an invocation in the transaction of another is committed with it or not at all', async () => {
    await using db = await createTestDatabase();
    await db.pool.query('create table effects (n int)');
    const double = receptor(Double, async ({ n }, ctx) => {
      await ctx.tx.query('insert into effects values ($1)', [n]);
      await ctx.publish(OrderPlaced({ orderId: 'a', step: n }));
      return n * 2;
    });
    const quadruple = receptor(Quadruple, async ({ n }, ctx) => {
      const twice = await shop.invoke(Double({ n }), { tx: ctx.tx });
      if (n > 5) throw new Error('too much');
      return shop.invoke(Double({ n: twice }), { tx: ctx.tx });
    });
    await using shop: Whizbang = service(db, { receptors: [double, quadruple] });
    expect(await shop.invoke(Quadruple({ n: 1 }))).toBe(4);
    await expect(shop.invoke(Quadruple({ n: 6 }))).rejects.toThrow('too much');
    expect((await db.pool.query('select n from effects order by n')).rows).toEqual([{ n: 1 }, { n: 2 }]);
    const { rows } = await db.pool.query(
      `select event_data->>'step' as step from wh_outbox order by sequence_order`,
    );
    expect(rows).toEqual([{ step: '1' }, { step: '2' }]);
  });

  it('ctx.invoke runs in the transaction and conversation of the receptor, and sends in the order of both', async () => {
    await using db = await createTestDatabase();
    await db.pool.query('create table effects (n int)');
    const seen: unknown[] = [];
    const double = receptor(Double, async ({ n }, ctx) => {
      seen.push([ctx.envelope.correlationId, ctx.envelope.causationId]);
      await ctx.tx.query('insert into effects values ($1)', [n]);
      await ctx.publish(OrderPlaced({ orderId: 'a', step: 2 }));
      return n * 2;
    });
    let fails = true;
    const place = receptor(PlaceOrder, async ({ orderId }, ctx) => {
      seen.push([ctx.envelope.correlationId, ctx.envelope.messageId]);
      await ctx.publish(OrderPlaced({ orderId, step: 1 }));
      const twice: number = await ctx.invoke(Double({ n: 21 }));
      await ctx.publish(OrderPlaced({ orderId, step: twice }));
      if (fails) throw new Error('not yet');
    });
    await using shop = service(db, { receptors: [place, double], retry: { firstDelaySeconds: 0.01 } });
    shop.on('failure', () => {
      fails = false;
    });
    await shop.start();
    await shop.send(PlaceOrder({ orderId: 'a' }));
    await eventually(async () => {
      const { rows } = await db.pool.query('select n from effects');
      expect(rows).toEqual([{ n: 21 }]);
    });
    const { rows } = await db.pool.query(
      `select event_data->>'step' as step from wh_event_store order by version`,
    );
    expect(rows).toEqual([{ step: '1' }, { step: '2' }, { step: '42' }]);
    const [[correlation, message] = []] = seen as [string, string][];
    expect(seen).toEqual(seen.map(() => [correlation, message]));
    expect(seen).toHaveLength(4);
  });

  it('ctx.invoke of a receptor without a transaction gives the invoked receptor its own', async () => {
    await using db = await createTestDatabase();
    await db.pool.query('create table effects (n int)');
    const double = receptor(Double, async ({ n }, ctx) => {
      await ctx.tx.query('insert into effects values ($1)', [n]);
      await ctx.publish(OrderPlaced({ orderId: 'a', step: n }));
      return n * 2;
    });
    const quadruple = receptor(Quadruple, { transaction: false }, async ({ n }, ctx) => {
      await ctx.invoke(Double({ n }));
      throw new Error('too late');
    });
    await using shop = service(db, { receptors: [double, quadruple] });
    await expect(shop.invoke(Quadruple({ n: 1 }))).rejects.toThrow('too late');
    expect((await db.pool.query('select n from effects')).rows).toEqual([{ n: 1 }]);
    expect((await db.pool.query('select 1 from wh_outbox')).rowCount).toBe(1);
  });

  it('invoke sends on what the receptor returns, caused by the command', async () => {
    await using db = await createTestDatabase();
    const place = receptor(PlaceOrder, ({ orderId }) => [
      OrderPlaced({ orderId, step: 1 }),
      OrderPlaced({ orderId, step: 2 }),
    ]);
    await using shop = service(db, { receptors: [place] });
    await using scope = shop.scope();
    for (const dispatcher of [shop, scope]) {
      await dispatcher.invoke(PlaceOrder({ orderId: 'a' }), {
        messageId: '018f2b5e-0000-7000-8000-000000000001',
      });
    }
    const { rows } = await db.pool.query(
      `select event_data->>'step' as step, metadata->>'causationId' as cause, jsonb_array_length(metadata->'hops') as hops
       from wh_outbox order by sequence_order`,
    );
    const cause = '018f2b5e-0000-7000-8000-000000000001';
    expect(rows).toEqual(['1', '2', '1', '2'].map((step) => ({ step, cause, hops: 2 })));
  });

  it('invoke is refused after the instance has stopped', async () => {
    await using db = await createTestDatabase();
    const double = (transaction: boolean) => receptor(Double, { transaction }, ({ n }) => n * 2);
    for (const transaction of [true, false]) {
      const shop = service(db, { receptors: [double(transaction)], transport: inProcessTransport() });
      await shop.start();
      await shop.stop();
      await expect(shop.invoke(Double({ n: 1 }))).rejects.toMatchObject({ code: 'DISPOSED' });
    }
  });
});
