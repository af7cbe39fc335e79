import { describe, expect, it } from 'vitest';
import { receptor } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { OrderPlaced, PlaceOrder, service } from './service.js';

const once = { uniqueKey: 'order-1', uniqueSeconds: 60 };

describe('A message with a unique key', () => {
  it('a second message with the key is not sent, and the answer names the first', async () => {
    await using db = await createTestDatabase();
    const handled: number[] = [];
    const onPlace = receptor(PlaceOrder, async ({ step }) => void handled.push(step));
    await using shop = service(db, { receptors: [onPlace] });
    await shop.start();
    const first = await shop.send(PlaceOrder({ orderId: 'a', step: 1 }), once);
    const second = await shop.send(PlaceOrder({ orderId: 'a', step: 2 }), once);
    const other = await shop.send(PlaceOrder({ orderId: 'a', step: 3 }), { ...once, uniqueKey: 'order-2' });
    expect(first.isNew).toBe(true);
    expect(second).toEqual({ messageId: first.messageId, isNew: false });
    expect(other.isNew).toBe(true);
    await eventually(() => expect(handled).toEqual([1, 3]));
  });

  it('a key that is too long for an index is refused before the transaction is touched', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const keyOf = (length: number) =>
      Array.from({ length }, (_, i) => String.fromCharCode(33 + ((i * i * 7) % 90))).join('');
    const send = (length: number) =>
      shop.publish(OrderPlaced({ orderId: 'a' }), { ...once, uniqueKey: keyOf(length) });
    expect((await send(1000)).isNew).toBe(true);
    await expect(send(1001)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      details: { option: 'uniqueKey' },
    });
  });

  it('a key is free when its time is over, by the clock of the database', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const first = await shop.publish(OrderPlaced({ orderId: 'a' }), once);
    await db.pool.query(`update wh_unique_keys set expires_at = clock_timestamp() - interval '1 ms'`);
    const second = await shop.publish(OrderPlaced({ orderId: 'a' }), once);
    expect(second.isNew).toBe(true);
    expect(second.messageId).not.toBe(first.messageId);
    expect(await shop.publish(OrderPlaced({ orderId: 'a' }), once)).toEqual({ ...second, isNew: false });
  });

  it('a message with a key waits for an open transaction with the same key, and is sent after its rollback', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const client = await db.pool.connect();
    await client.query('begin');
    expect(await shop.publish(OrderPlaced({ orderId: 'a' }), { ...once, tx: client })).toMatchObject({
      isNew: true,
    });
    const second = shop.publish(OrderPlaced({ orderId: 'b' }), once);
    await eventually(async () => {
      const { rows } = await db.pool.query(
        `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%wh_claim_unique%'`,
      );
      expect(rows).toHaveLength(1);
    });
    await client.query('rollback');
    client.release();
    expect(await second).toMatchObject({ isNew: true });
    const { rows } = await db.pool.query('select message_id from wh_outbox');
    expect(rows).toEqual([{ message_id: (await second).messageId }]);
  });

  it('a key with which many send at once lets one of them be sent', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => shop.publish(OrderPlaced({ orderId: `${n}` }), once)),
    );
    expect(answers.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(answers.map(({ messageId }) => messageId)).size).toBe(1);
    expect((await db.pool.query('select 1 from wh_outbox')).rows).toHaveLength(1);
  });

  it('a receptor that fails after it sent with a key sends it at its next attempt', async () => {
    await using db = await createTestDatabase();
    const placed: string[] = [];
    const retry = { firstDelaySeconds: 0.01 };
    const onPlace = receptor(PlaceOrder, { retry }, async ({ orderId }, ctx) => {
      await ctx.publish(OrderPlaced({ orderId }), once as object);
      if (ctx.attempt === 1) throw new Error('not yet');
    });
    const onPlaced = receptor(OrderPlaced, async ({ orderId }) => void placed.push(orderId));
    await using shop = service(db, { receptors: [onPlace, onPlaced] });
    await shop.start();
    await shop.send([PlaceOrder({ orderId: 'a' })]);
    await eventually(() => expect(placed).toEqual(['a']));
  });

  it('a key without its seconds, for two messages, or without a transaction in a receptor, is refused', async () => {
    await using db = await createTestDatabase();
    const refusals: unknown[] = [];
    const onPlace = receptor(PlaceOrder, { transaction: false }, async ({ orderId }, ctx) => {
      await ctx.publish(OrderPlaced({ orderId }), once as object).catch((error) => refusals.push(error));
    });
    await using shop = service(db, { receptors: [onPlace] });
    await shop.start();
    const refused = { code: 'INVALID_OPTION', details: { option: 'uniqueKey' } };
    const two = [OrderPlaced({ orderId: 'a' }), OrderPlaced({ orderId: 'b' })];
    await expect(shop.publish(two, once as object)).rejects.toMatchObject(refused);
    await expect(shop.publish(two[0] as never, { uniqueKey: 'a' } as object)).rejects.toMatchObject(refused);
    await shop.send(PlaceOrder({ orderId: 'a' }));
    await eventually(() => expect(refusals).toMatchObject([refused]));
  });

  it('a key that expired an hour ago is removed when others are claimed, two with each', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await db.pool.query(
      `insert into wh_unique_keys select 'old' || n, gen_random_uuid(), now() - interval '2 hours' from generate_series(1, 5) n`,
    );
    await shop.publish(OrderPlaced({ orderId: 'a' }), once);
    expect((await db.pool.query('select 1 from wh_unique_keys')).rows).toHaveLength(4);
  });
});

describe('A unique key and a delay', () => {
  it('a second timer with the key is not set, and the answer names the first', async () => {
    await using db = await createTestDatabase();
    const handled: number[] = [];
    const onPlace = receptor(PlaceOrder, async ({ step }) => void handled.push(step));
    await using shop = service(db, { receptors: [onPlace] });
    await shop.start();
    const delayed = { ...once, delaySeconds: 0.2 };
    const first = await shop.send(PlaceOrder({ orderId: 'a', step: 1 }), delayed);
    const second = await shop.send(PlaceOrder({ orderId: 'a', step: 2 }), delayed);
    const atOnce = await shop.send(PlaceOrder({ orderId: 'a', step: 3 }), once);
    expect([second, atOnce]).toEqual([
      { messageId: first.messageId, isNew: false },
      { messageId: first.messageId, isNew: false },
    ]);
    await shop.send(PlaceOrder({ orderId: 'a', step: 4 }), { delaySeconds: 0.3 });
    await eventually(() => expect(handled).toEqual([1, 4]));
    expect(await shop.timers.list()).toEqual([]);
  });

  it('a timer with a key of two instances at the same moment is set once', async () => {
    await using db = await createTestDatabase();
    await using one = service(db, { receptors: [receptor(PlaceOrder, () => {})] });
    await using two = service(db, { receptors: [receptor(PlaceOrder, () => {})] });
    await Promise.all([one.start(), two.start()]);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, step) =>
        (step % 2 === 0 ? one : two).send(PlaceOrder({ orderId: 'a', step }), { ...once, delaySeconds: 60 }),
      ),
    );
    expect(answers.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(answers.map(({ messageId }) => messageId)).size).toBe(1);
    const [timer, ...others] = await one.timers.list();
    expect([timer?.id, others]).toEqual([answers[0]?.messageId, []]);
  });

  it('a timer with a key that was cancelled keeps its key until its time is over', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { receptors: [receptor(PlaceOrder, () => {})] });
    await shop.start();
    const delayed = { ...once, delaySeconds: 60 };
    const first = await shop.send(PlaceOrder({ orderId: 'a', step: 1 }), delayed);
    expect(await shop.cancel(first.messageId)).toBe(true);
    expect(await shop.send(PlaceOrder({ orderId: 'a', step: 2 }), delayed)).toEqual({
      messageId: first.messageId,
      isNew: false,
    });
    expect(await shop.timers.list()).toEqual([]);
  });
});
