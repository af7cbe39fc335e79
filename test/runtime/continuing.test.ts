// What a service sends to itself is handed out behind what it still handles of the same stream. Nothing is overtaken by that, whatever
// becomes of those in front, and whatever PostgreSQL does not know of it yet.
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Queryable } from '../../src/database/index.js';
import { receptor } from '../../src/index.js';
import { WorkBatchFlags } from '../../src/message.js';
import { callWith } from '../crashes/support/call-with.js';
import { endLeases } from '../crashes/support/end-leases.js';
import { startLossyProxy } from '../crashes/support/lossy-proxy.js';
import { Random } from '../properties/support/random.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { PlaceOrder, service } from './service.js';

const quick = { attempts: 1000, firstDelaySeconds: 0.02, maxDelaySeconds: 0.05 };
const flagsInInbox = async (db: TestDatabase) =>
  (await db.pool.query<{ flags: number }>('select flags from wh_inbox order by sequence_order')).rows.map(
    ({ flags }) => flags,
  );

describe('Messages that a service sends to itself while it handles their stream', () => {
  it('a message sent to the stream that is being handled is handed out at once, and handled next', async () => {
    await using db = await createTestDatabase();
    const steps: number[] = [];
    let goOn = () => {};
    const sent = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const place = receptor(PlaceOrder, { transaction: false }, async ({ step }) => {
      steps.push(step);
      if (step === 1) await sent;
    });
    await using shop = service(db, { receptors: [place] });
    await shop.start();
    await shop.send(PlaceOrder({ orderId: 'a', step: 1 }));
    await eventually(() => expect(steps).toEqual([1]));
    await shop.send(PlaceOrder({ orderId: 'a', step: 2 }));
    const flags = await flagsInInbox(db);
    expect(flags.map((each) => (each & WorkBatchFlags.Continues) !== 0)).toEqual([false, true]);
    goOn();
    await eventually(() => expect(steps).toEqual([1, 2]));
  });

  it.each([false, true])(
    'messages sent to oneself overtake none that fails, however they cross (in a transaction: %s)',
    async (transaction) => {
      await using db = await createTestDatabase();
      await db.pool.query(
        'create table effects (id bigint generated always as identity, stream text, step int)',
      );
      const effect = 'insert into effects (stream, step) values ($1, $2)';
      const random = new Random(20261117);
      let failures = 0;
      const handle = async (place: { orderId: string; step: number }, tx: Queryable | undefined) => {
        for (let turns = random.below(4); turns > 0; turns--) await turn();
        if (random.chance(0.1)) {
          failures++;
          throw new Error('not now');
        }
        await (tx ?? db.pool).query(effect, [place.orderId, place.step]);
      };
      const place = transaction
        ? receptor(PlaceOrder, { retry: quick }, (order, { tx }) => handle(order, tx))
        : receptor(PlaceOrder, { retry: quick, transaction }, (order) => handle(order, undefined));
      await using shop = service(db, { receptors: [place] });
      await shop.start();
      const orders = ['a', 'b', 'c', 'd', 'e', 'f'];
      const steps = Array.from({ length: 150 }, (_, i) => i + 1);
      await Promise.all(
        orders.map(async (orderId) => {
          for (const step of steps) await shop.send(PlaceOrder({ orderId, step }));
        }),
      );
      await eventually(async () => expect(await flagsInInbox(db)).toEqual([]), 100_000);
      expect(failures).toBeGreaterThan(20);
      const { rows } = await db.pool.query(
        'select stream, array_agg(step order by id) as steps from effects group by 1 order by 1',
      );
      expect(rows).toEqual(orders.map((stream) => ({ stream, steps })));
    },
    120_000,
  );

  it.each([
    [8, 10],
    [500, 150],
  ])(
    'a stream that waits leaves places to other streams (prefetch %i, %i messages)',
    async (prefetch, count) => {
      await using db = await createTestDatabase();
      const seen: string[] = [];
      let goOn = () => {};
      const allSeen = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      const place = receptor(PlaceOrder, { transaction: false }, async ({ orderId }) => {
        seen.push(orderId);
        if (orderId === 'slow') await allSeen;
      });
      await using shop = service(db, { receptors: [place], prefetch });
      await shop.start();
      await shop.send(PlaceOrder({ orderId: 'slow', step: 0 }));
      await shop.send(Array.from({ length: count }, (_, i) => PlaceOrder({ orderId: 'slow', step: i + 1 })));
      for (const orderId of ['b', 'c', 'd']) await shop.send(PlaceOrder({ orderId, step: 1 }));
      await eventually(() => expect(seen).toEqual(['slow', 'b', 'c', 'd']));
      goOn();
      await eventually(async () => expect(await flagsInInbox(db)).toEqual([]));
      expect(seen.filter((orderId) => orderId === 'slow')).toHaveLength(count + 1);
    },
  );

  it('a message waits behind one whose answer was lost, until the lease of that one ends', async () => {
    await using db = await createTestDatabase();
    await using proxy = await startLossyProxy(db.connectionString);
    const steps: number[] = [];
    const place = receptor(PlaceOrder, { transaction: false }, async ({ step }) => void steps.push(step));
    const options = { leaseSeconds: 120, staleThresholdSeconds: 120, receptors: [place] };
    await using shop = service(db, { ...options, connectionString: proxy.connectionString });
    await shop.start();
    await shop.send(PlaceOrder({ orderId: 'a', step: 1 }));
    await eventually(() => expect(steps).toEqual([1]));
    const cut = proxy.loseAnswer(callWith('newOutboxMessages'));
    await expect(shop.send(PlaceOrder({ orderId: 'a', step: 2 }))).rejects.toMatchObject({
      code: 'CONNECTION_LOST',
    });
    await cut;
    await shop.send(PlaceOrder({ orderId: 'a', step: 3 }));
    await shop.send(PlaceOrder({ orderId: 'b', step: 4 }));
    await eventually(() => expect(steps).toContain(4));
    expect(steps).not.toContain(3);
    await endLeases(db.pool);
    await eventually(() => expect(steps.filter((step) => step !== 4)).toEqual([1, 2, 3]));
  });
});
