import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineCommand, inProcessTransport, receptor } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { reachSchedule } from '../support/passing-time.js';
import { OrderPlaced, PlaceOrder, service } from './service.js';

describe('Sending in a transaction', () => {
  it('a message sent in a transaction is delivered after the commit, and not after a rollback', async () => {
    await using db = await createTestDatabase();
    const steps: number[] = [];
    const onPlaced = receptor(OrderPlaced, ({ step }) => void steps.push(step));
    await using shop = service(db, { receptors: [onPlaced] });
    await shop.start();
    const tx = await db.connect();
    await tx.query('begin');
    await shop.publish([OrderPlaced({ orderId: 'a', step: 1 }), OrderPlaced({ orderId: 'a', step: 2 })], {
      tx,
    });
    await tx.query('rollback');
    await tx.query('begin isolation level serializable');
    await shop.publish(OrderPlaced({ orderId: 'a', step: 3 }), { tx });
    await tx.query('commit');
    await eventually(() => expect(steps).toEqual([3]));
  });

  it('publish refuses a transaction that is undefined, also in a scope, and stores nothing', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const lost = { tx: undefined } as object;
    const refusal = { code: 'INVALID_OPTION', details: { option: 'tx' } };
    await expect(shop.publish(OrderPlaced({ orderId: 'a' }), lost)).rejects.toMatchObject(refusal);
    await using scope = shop.scope();
    await expect(scope.publish(OrderPlaced({ orderId: 'a' }), lost)).rejects.toMatchObject(refusal);
    await scope.flush();
    expect((await db.pool.query('select from wh_outbox')).rowCount).toBe(0);
  });

  it('publish in a transaction refuses an event whose stream is at another version', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await shop.publish(OrderPlaced({ orderId: 'a' }), { expectedVersion: 0 });
    const tx = await db.connect();
    await tx.query('begin');
    await expect(
      shop.publish(OrderPlaced({ orderId: 'a' }), { tx, expectedVersion: 0 }),
    ).rejects.toMatchObject({
      code: 'EXPECTED_VERSION',
      details: { expectedVersion: 0, actualVersion: 1 },
    });
    await tx.query('rollback');
    await tx.query('begin');
    await shop.publish(OrderPlaced({ orderId: 'a' }), { tx, expectedVersion: 1 });
    await tx.query('commit');
    const { rows } = await db.pool.query('select version from wh_event_store order by version');
    expect(rows).toEqual([{ version: '1' }, { version: '2' }]);
  });

  it('the commit of a sent message wakes a sleeping instance, long before its poll', async () => {
    await using db = await createTestDatabase();
    const steps: number[] = [];
    const onPlaced = receptor(OrderPlaced, ({ step }) => void steps.push(step));
    await using shop = service(db, { receptors: [onPlaced], pollIntervalMs: 60_000 });
    await shop.start();
    for (const step of [1, 2, 3]) {
      const tx = await db.connect();
      await tx.query('begin');
      await shop.publish(OrderPlaced({ orderId: 'a', step }), { tx });
      await tx.query('commit');
      await eventually(() => expect(steps.at(-1)).toBe(step));
    }
  });

  it('a message sent in a transaction is found by polling when LISTEN is off', async () => {
    await using db = await createTestDatabase();
    const steps: number[] = [];
    const onPlaced = receptor(OrderPlaced, ({ step }) => void steps.push(step));
    await using shop = service(db, { receptors: [onPlaced], listen: false, pollIntervalMs: 20 });
    await shop.start();
    const tx = await db.connect();
    await tx.query('begin');
    await shop.publish(OrderPlaced({ orderId: 'a', step: 1 }), { tx });
    await tx.query('commit');
    await eventually(() => expect(steps).toEqual([1]));
    const { rows } = await db.pool.query(
      `select 1 from pg_stat_activity where datname = current_database() and query ilike 'listen%'`,
    );
    expect(rows).toEqual([]);
  });
});

describe('Sending outside a transaction', () => {
  it('publish refuses bad data with the path of the field, and stores nothing of the call', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const good = OrderPlaced({ orderId: 'a' });
    const bad = OrderPlaced({ orderId: 'a', step: 'two' as unknown as number });
    await expect(shop.publish([good, bad])).rejects.toMatchObject({
      code: 'INVALID_MESSAGE',
      details: { issues: [{ path: expect.stringContaining('step') }] },
    });
    expect((await db.pool.query('select 1 from wh_outbox')).rows).toEqual([]);
  });

  it('messages sent in a scope are stored in one call at its end', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    {
      await using scope = shop.scope();
      await scope.publish(OrderPlaced({ orderId: 'a', step: 1 }));
      await scope.send(PlaceOrder({ orderId: 'a', step: 2 }), { to: 'warehouse' });
      expect((await db.pool.query('select 1 from wh_outbox')).rows).toEqual([]);
    }
    const { rows } = await db.pool.query('select event_type, xmin from wh_outbox order by sequence_order');
    expect(rows).toMatchObject([{ event_type: 'OrderPlaced' }, { event_type: 'PlaceOrder' }]);
    expect(rows[0].xmin).toBe(rows[1].xmin);
  });

  it('publish by the interval strategy resolves when the message is stored', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { strategy: 'interval', intervalMs: 30 });
    await Promise.all([1, 2, 3].map((step) => shop.publish(OrderPlaced({ orderId: 'a', step }))));
    const { rows } = await db.pool.query('select distinct xmin from wh_outbox');
    expect(rows).toHaveLength(1);
  });

  it('a message sent with a delay and holdStream is delivered later, and holds its stream back', async () => {
    await using db = await createTestDatabase();
    const steps: number[] = [];
    const onPlaced = receptor(OrderPlaced, ({ step }) => void steps.push(step));
    await using shop = service(db, { receptors: [onPlaced], transport: inProcessTransport() });
    await shop.start();
    await shop.publish(OrderPlaced({ orderId: 'a', step: 1 }), { delaySeconds: 3600, holdStream: true });
    await shop.publish(OrderPlaced({ orderId: 'a', step: 2 }));
    await shop.publish(OrderPlaced({ orderId: 'b', step: 3 }));
    await eventually(() => expect(steps).toEqual([3]));
    await reachSchedule(db);
    await eventually(() => expect(steps).toEqual([3, 1, 2]));
  });

  it('publish fails when PostgreSQL cannot be reached', async () => {
    await using db = await createTestDatabase();
    const away = new URL(db.connectionString);
    away.port = '1';
    await using shop = service(db, { connectionString: away.href });
    await expect(shop.publish(OrderPlaced({ orderId: 'a' }))).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
    });
  });
});

describe('Invoking', () => {
  const Reserve = defineCommand('Reserve', {
    schema: z.object({ orderId: z.string() }),
    result: z.object({ place: z.number() }),
  });

  it('invoke returns what the receptor returned, typed, and commits what it wrote and sent', async () => {
    await using db = await createTestDatabase();
    await db.pool.query('create table effects (n int)');
    const onReserve = receptor(Reserve, async ({ orderId }, ctx) => {
      await ctx.tx.query('insert into effects values (1)');
      await ctx.publish(OrderPlaced({ orderId }));
      return { place: 7 };
    });
    await using shop = service(db, { receptors: [onReserve] });
    const { place } = await shop.invoke(Reserve({ orderId: 'a' }));
    expect(place satisfies number).toBe(7);
    expect((await db.pool.query('select 1 from effects')).rows).toHaveLength(1);
    expect((await db.pool.query('select event_type from wh_outbox')).rows).toEqual([
      { event_type: 'OrderPlaced' },
    ]);
  });

  it('invoke rejects with the error of the receptor, and nothing is written or sent', async () => {
    await using db = await createTestDatabase();
    await db.pool.query('create table effects (n int)');
    const onReserve = receptor(Reserve, async ({ orderId }, ctx) => {
      await ctx.tx.query('insert into effects values (1)');
      await ctx.publish(OrderPlaced({ orderId }));
      throw new Error('full');
    });
    await using shop = service(db, { receptors: [onReserve] });
    await expect(shop.invoke(Reserve({ orderId: 'a' }))).rejects.toThrow('full');
    const { rows } = await db.pool.query('select 1 from effects union all select 1 from wh_outbox');
    expect(rows).toEqual([]);
  });

  it('invoke without a receptor fails with NO_RECEPTOR', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    await expect(shop.invoke(Reserve({ orderId: 'a' }))).rejects.toMatchObject({ code: 'NO_RECEPTOR' });
  });
});
