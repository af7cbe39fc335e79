import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { batchReceptor, defineCommand, receptor } from '../../src/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { OrderPlaced, PlaceOrder, service } from './service.js';

const Row = defineCommand('Row', { schema: z.object({ n: z.number() }) });
const rows = (count: number) => Array.from({ length: count }, (_, n) => Row({ n }));
const orders = (orderId: string, steps: number[]) => steps.map((step) => PlaceOrder({ orderId, step }));
const retry = { firstDelaySeconds: 0.05, jitter: 0 };

const withEffects = async (db: TestDatabase) => {
  await db.pool.query(
    'create table effects (id bigint generated always as identity, order_id text, step int)',
  );
  return async () => (await db.pool.query('select order_id, step from effects order by id')).rows;
};
const finished = (db: TestDatabase) =>
  eventually(async () => expect((await db.pool.query('select 1 from wh_inbox')).rows).toEqual([]));

describe('A receptor of batches', () => {
  it('a receptor of batches handles many messages in one call and one transaction', async () => {
    await using db = await createTestDatabase();
    const batches: number[][] = [];
    const transactions = new Set<string>();
    const onRow = batchReceptor(Row, { size: 10, waitMs: 3000 }, async (payloads, { tx, envelopes }) => {
      expect(envelopes.map(({ payload }) => payload)).toEqual(payloads);
      const { rows: found } = await tx.query('select pg_current_xact_id()::text as id');
      transactions.add((found[0] as { id: string }).id);
      batches.push(payloads.map(({ n }) => n));
    });
    await using shop = service(db, { receptors: [onRow] });
    await shop.start();
    await shop.send(rows(20));
    await finished(db);
    expect(batches.map((batch) => batch.length)).toEqual([10, 10]);
    expect(batches.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n));
    expect(transactions.size).toBe(2);
  });

  it('a batch has the messages of a stream in order', async () => {
    await using db = await createTestDatabase();
    const effects = await withEffects(db);
    const onPlace = batchReceptor(PlaceOrder, { size: 7, waitMs: 50 }, async (payloads, { tx }) => {
      for (const { orderId, step } of payloads) {
        await tx.query('insert into effects (order_id, step) values ($1, $2)', [orderId, step]);
      }
    });
    await using shop = service(db, { receptors: [onPlace] });
    await shop.start();
    await shop.send([...orders('a', [1, 2, 3, 4, 5]), ...orders('b', [1, 2, 3, 4, 5])]);
    await finished(db);
    const found = await effects();
    for (const id of ['a', 'b']) {
      expect(found.filter((row) => row.order_id === id).map(({ step }) => step)).toEqual([1, 2, 3, 4, 5]);
    }
  });

  it('a batch has messages of one scope, and what it sends keeps that scope', async () => {
    await using db = await createTestDatabase();
    const sent: unknown[][] = [];
    const onRow = batchReceptor(Row, { size: 10, waitMs: 200 }, async (payloads, { publish }) => {
      await publish(payloads.map(({ n }) => OrderPlaced({ orderId: `order-${n}`, step: n })));
    });
    const onPlaced = receptor(
      OrderPlaced,
      ({ step }, { envelope }) => void sent.push([step, envelope.scope]),
    );
    await using shop = service(db, { receptors: [onRow, onPlaced] });
    await shop.start();
    const scopeOf = (n: number) => (n % 3 === 2 ? null : { tenant: `tenant-${n % 3}` });
    await Promise.all(rows(9).map((row, n) => shop.send(row, { scope: scopeOf(n) })));
    await eventually(() => expect(sent).toHaveLength(9));
    for (const [n, scope] of sent) expect(scope).toEqual(scopeOf(n as number));
  });

  it('a message that the handler returns as failed is retried, and the others are done', async () => {
    await using db = await createTestDatabase();
    const calls: number[][] = [];
    let hasFailed = false;
    const onRow = batchReceptor(Row, { size: 5, waitMs: 3000, retry }, async (payloads) => {
      calls.push(payloads.map(({ n }) => n));
      if (hasFailed) return;
      hasFailed = true;
      return payloads.map(({ n }) => (n === 2 ? new Error('not this one') : undefined));
    });
    await using shop = service(db, { receptors: [onRow] });
    await shop.start();
    await shop.send(rows(5));
    await finished(db);
    expect(calls.map((call) => call.sort())).toEqual([[0, 1, 2, 3, 4], [2]]);
  });

  it('messages behind a failed one in its stream are handled after it, and their effects happen once', async () => {
    await using db = await createTestDatabase();
    const effects = await withEffects(db);
    let failures = 1;
    const onPlace = batchReceptor(PlaceOrder, { size: 6, waitMs: 3000, retry }, async (payloads, { tx }) => {
      for (const { orderId, step } of payloads) {
        await tx.query('insert into effects (order_id, step) values ($1, $2)', [orderId, step]);
      }
      const fails = payloads.some(({ step }) => step === 2) && failures-- > 0;
      return payloads.map(({ orderId, step }) =>
        fails && orderId === 'a' && step === 2 ? new Error('no') : null,
      );
    });
    await using shop = service(db, { receptors: [onPlace] });
    await shop.start();
    await shop.send([...orders('a', [1, 2, 3]), ...orders('b', [1, 2, 3])]);
    await finished(db);
    const found = await effects();
    expect(found.filter((row) => row.order_id === 'a').map(({ step }) => step)).toEqual([1, 2, 3]);
    expect(found.filter((row) => row.order_id === 'b').map(({ step }) => step)).toEqual([1, 2, 3]);
  });

  it('a batch whose handler throws fails all its messages, and nothing of it is written', async () => {
    await using db = await createTestDatabase();
    const effects = await withEffects(db);
    const attempts: number[] = [];
    let failures = 1;
    const onRow = batchReceptor(Row, { size: 3, waitMs: 3000, retry }, async (payloads, { tx }) => {
      for (const { n } of payloads) await tx.query('insert into effects (step) values ($1)', [n]);
      attempts.push(payloads.length);
      if (failures-- > 0) throw new Error('all of them');
    });
    await using shop = service(db, { receptors: [onRow] });
    await shop.start();
    await shop.send(rows(3));
    await finished(db);
    expect(attempts).toEqual([3, 1, 1, 1]); // each that has failed is retried by itself
    expect((await effects()).map(({ step }) => step).sort()).toEqual([0, 1, 2]);
  });

  it('a message that does not fit its schema becomes a dead letter, and the rest of its batch is handled', async () => {
    await using db = await createTestDatabase();
    const handled: number[] = [];
    const onRow = batchReceptor(Row, { size: 3, waitMs: 3000 }, async (payloads) => {
      handled.push(...payloads.map(({ n }) => n));
    });
    await using shop = service(db, { receptors: [onRow] });
    await db.pool.query(
      `insert into wh_inbox (message_id, handler_name, event_type, event_data)
       values (gen_random_uuid(), 'Row', 'Row', '{"n": "seven"}')`,
    );
    await shop.start();
    await shop.send(rows(2));
    await finished(db);
    expect(handled.sort()).toEqual([0, 1]);
    expect((await db.pool.query('select 1 from wh_dead_letters')).rows).toHaveLength(1);
  });

  it('what a batch sends is stored with its completions', async () => {
    await using db = await createTestDatabase();
    const placed: string[] = [];
    const onRow = batchReceptor(Row, { size: 3, waitMs: 100 }, async (payloads, ctx) => {
      await ctx.publish(payloads.map(({ n }) => OrderPlaced({ orderId: `${n}` })));
    });
    const onPlaced = receptor(OrderPlaced, async ({ orderId }) => void placed.push(orderId));
    await using shop = service(db, { receptors: [onRow, onPlaced] });
    await shop.start();
    await shop.send(rows(3));
    await eventually(() => expect(placed.sort()).toEqual(['0', '1', '2']));
  });

  it('a batch receptor handles an invoked command as a batch of one', async () => {
    await using db = await createTestDatabase();
    const sizes: number[] = [];
    const onRow = batchReceptor(Row, { size: 3 }, async (payloads) => {
      sizes.push(payloads.length);
      return payloads.map(({ n }) => (n > 0 ? new Error('too much') : null));
    });
    await using shop = service(db, { receptors: [onRow] });
    await shop.invoke(Row({ n: 0 }));
    await expect(shop.invoke(Row({ n: 1 }))).rejects.toThrow('too much');
    expect(sizes).toEqual([1, 1]);
  });
});

describe('A batch receptor that is refused', () => {
  const refused = (option: string) =>
    expect.objectContaining({ code: 'INVALID_OPTION', details: expect.objectContaining({ option }) });
  it.each([
    [{}, 'size'],
    [{ size: 0 }, 'size'],
    [{ size: 2, waitMs: -1 }, 'waitMs'],
    [{ size: 2, concurrency: 0 }, 'concurrency'],
  ])('a batch receptor with the options %j is refused by the name of the option', (options, option) => {
    expect(() => batchReceptor(Row, options as never, () => {})).toThrow(refused(option));
  });

  it('a batch receptor beside another receptor of its event is refused', async () => {
    await using db = await createTestDatabase();
    const batch = batchReceptor(OrderPlaced, { size: 2 }, () => {});
    const other = receptor(OrderPlaced, { name: 'other' }, async () => {});
    expect(() => service(db, { receptors: [batch, other] })).toThrow(refused('receptors'));
  });
});
