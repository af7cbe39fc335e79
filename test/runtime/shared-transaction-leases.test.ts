import { beforeAll, describe, expect, it } from 'vitest';
import { WorkCoordinator } from '../../src/coordination.js';
import { streamIdOf } from '../../src/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import {
  effectsOf,
  inCompany,
  leftIn,
  onePlace,
  placing,
  Runs,
  sentBy,
  waiting,
  warmUp,
} from './shared-transactions.js';

beforeAll(warmUp);

/** Another instance, which takes a stream away from the one that has it. */
class Thief {
  readonly coordinator: WorkCoordinator;
  readonly #db: TestDatabase;

  constructor(db: TestDatabase) {
    this.#db = db;
    this.coordinator = new WorkCoordinator({
      pool: db.pool,
      takeoverSeconds: 0,
      instance: { serviceName: 'shop' },
    });
  }

  async steal(orderId: string, count: number): Promise<void> {
    const stolen = new Set<string>();
    await eventually(async () => {
      for (const table of ['wh_active_streams', 'wh_inbox']) {
        await this.#db.pool.query(
          `update ${table} set lease_expiry = clock_timestamp() where stream_id = $1 and instance_id <> $2`,
          [streamIdOf(orderId), this.coordinator.instance.instanceId],
        );
      }
      const { inbox } = await this.coordinator.processWorkBatch({ maxInboxItems: 10 });
      for (const { messageId } of inbox) stolen.add(messageId);
      expect(stolen.size).toBe(count);
    });
  }
}

describe('A lease that is lost in a shared transaction', inCompany, () => {
  it('a lost lease undoes its shared transaction, and only the other messages run again', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'a2', 'b1', 'c1']);
    const thief = new Thief(db);
    const runs = new Runs();
    let isStolen = false;
    const onPlaced = placing(runs, async ({ orderId }, { tx }) => {
      if (orderId !== 'c' || isStolen || !runs.isShared(tx, 'a1')) return;
      isStolen = true;
      await thief.steal('a', 2);
    });
    await using shop = onePlace(db, [onPlaced]);
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual(isStolen ? ['a1', 'a2'] : []));
    await shop.stop();
    expect(isStolen).toBe(true);
    expect(runs.sizes[0]).toBeGreaterThan(2);
    expect(runs.orders.filter((id) => id === 'a1')).toHaveLength(1);
    expect(await effectsOf(db)).toEqual(['b1', 'c1']);
    expect(await sentBy(db)).toEqual(['b', 'c']);
  });

  it('a lost lease aborts the running message of its group, and all take effect once', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'b1', 'c1']);
    const thief = new Thief(db);
    const runs = new Runs();
    const reasons: unknown[] = [];
    const onPlaced = placing(runs, async ({ orderId }, { signal, tx }) => {
      if (orderId !== 'c' || reasons.length > 0 || !runs.isShared(tx, 'a1')) return;
      await thief.steal('a', 1);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      reasons.push(signal.reason);
      await thief.coordinator.deregister();
    });
    await using shop = onePlace(db, [onPlaced], { leaseSeconds: 2, renewSeconds: 1 });
    await shop.start();
    await eventually(async () => expect(await leftIn(db)).toEqual([]));
    expect(reasons).toMatchObject([{ code: 'LEASE_LOST' }]);
    expect(await effectsOf(db)).toEqual(['a1', 'b1', 'c1']);
    expect(await sentBy(db)).toEqual(['a', 'b', 'c']);
  });
});

describe('An instance that stops', inCompany, () => {
  it('an instance that must stop at once undoes a shared transaction, and gives all messages back', async () => {
    await using db = await createTestDatabase();
    await waiting(db, ['a1', 'b1', 'c1']);
    const runs = new Runs();
    let hangs = () => {};
    const hung = new Promise<void>((resolve) => (hangs = resolve));
    const onPlaced = placing(runs, ({ orderId }, { signal }) => {
      if (orderId !== 'b') return undefined;
      hangs();
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    });
    const shop = onePlace(db, [onPlaced]);
    await shop.start();
    await hung;
    await shop.stop({ seconds: 0 });
    expect(runs.orders).toEqual(['a1', 'b1']);
    expect(await effectsOf(db)).toEqual([]);
    const { rows } = await db.pool.query('select attempts, instance_id from wh_inbox');
    expect(rows).toEqual(Array.from({ length: 3 }, () => ({ attempts: 0, instance_id: null })));
  });
});
