import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { appendEvents } from '../../src/coordinator/index.js';
import type { Queryable } from '../../src/database/index.js';
import { perspectiveFor } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { newMessageId } from '../../src/message-id.js';
import {
  BatchRunner,
  PerspectiveRegistry,
  PerspectiveWorker,
  registerAll,
} from '../../src/perspectives/index.js';
import { asQueryable } from '../../src/transactions/index.js';
import { OrderCancelled, OrderPlaced } from '../events/shop.js';
import type { UsersOwn } from './subject.js';
import type { World } from './world.js';

/** An instance with one perspective, whose functions write with the means of the library, and publish. */
class Till {
  readonly failing = new Set<string>();
  /** Thrown when all is written, instead of the commit. */
  lost: Error | undefined;
  readonly #world: World;
  readonly #registry: PerspectiveRegistry<object>;
  #own: UsersOwn | undefined;

  constructor(world: World) {
    this.#world = world;
    const stock = perspectiveFor<object>()('stock').on(OrderPlaced, async ({ orderId }, { publish }) => {
      await this.#own?.insertOrder(orderId);
      await publish(OrderCancelled({ orderId }));
      if (this.failing.has(orderId)) throw new Error('no stock');
    });
    this.#registry = new PerspectiveRegistry<object>([stock]);
  }

  get #pool() {
    const query: Queryable['query'] = (text, values) => this.#world.db.query(text, values);
    return { connect: async () => ({ query, release: () => {} }) };
  }

  register(): Promise<void> {
    const options = {
      pool: this.#pool,
      schema: 'whizbang',
      instanceId: newMessageId(),
      logger: silentLogger,
    };
    return registerAll({ registry: this.#registry, ...options });
  }

  /** Appends an event for each of these orders. */
  async place(...orderIds: readonly string[]): Promise<void> {
    const events = orderIds.map((orderId) => ({
      messageId: newMessageId(),
      destination: 'orders',
      eventType: 'OrderPlaced',
      eventData: { orderId, cents: 1 },
      streamId: orderId as never,
      isEvent: true,
    }));
    await appendEvents(this.#world.db, 'whizbang', events);
  }

  /** Does all that there is to do, as an instance that has just started. */
  async work(): Promise<void> {
    const coordinator = this.#world.coordinator();
    const { instanceId } = coordinator.instance;
    const transaction = (work: (tx: unknown, watched: object) => Promise<unknown>) =>
      this.#world.library.transaction(async (tx, own) => {
        this.#own = own;
        const result = await work(tx, { db: asQueryable(tx), refuseGivenUp: () => {} });
        const { lost } = this;
        this.lost = undefined;
        if (lost !== undefined) throw lost;
        return result;
      });
    const runner = new BatchRunner<object>({
      pool: this.#pool,
      schema: 'whizbang',
      leaseSeconds: 60,
      answerMs: 60_000,
      origin: { service: 'orders', instanceId },
      transaction: transaction as never,
      onHeld: () => {},
      keys: { openEvents: async (rows) => rows },
      switchOver: async () => true,
    });
    const worker = new PerspectiveWorker<object>({
      registry: this.#registry,
      instanceId,
      concurrency: 1,
      runner,
      onRoom: () => {},
      audit: { sometimes: async () => false },
      logger: silentLogger,
    });
    const { perspectives } = await coordinator.processWorkBatch({ perspectives: this.#registry.codes });
    worker.add(perspectives);
    await worker.whenIdle();
  }

  /** The orders that were written, those of which something was published, and the streams that are held. */
  async outcome(): Promise<{ written: unknown[]; published: unknown[]; held: unknown[] }> {
    const read = async (text: string) =>
      (await this.#world.db.query(text, [])).rows.map((row) => (row as { id: string }).id).sort();
    return {
      written: await read('select id::text from orders'),
      published: await read("select event_data ->> 'orderId' as id from wh_outbox"),
      held: await read('select stream_id::text as id from wh_perspective_checkpoints where held'),
    };
  }
}

export function describePerspectives(world: World): void {
  describe('a perspective', () => {
    beforeEach(async () => {
      for (const table of ['wh_perspectives', 'wh_perspective_bookmarks'])
        await world.db.query(`delete from ${table}`, []);
    });

    it('what a perspective writes and publishes is committed with its bookmark, and not repeated', async () => {
      const till = new Till(world);
      await till.register();
      const ids = [randomUUID(), randomUUID(), randomUUID()].sort();
      await till.place(...ids);
      await till.work();
      expect(await till.outcome()).toEqual({ written: ids, published: ids, held: [] });
      await till.work();
      expect(await till.outcome()).toEqual({ written: ids, published: ids, held: [] });
    });

    it('a batch of a perspective whose commit fails leaves nothing, and is run again', async () => {
      const till = new Till(world);
      await till.register();
      const ids = [randomUUID(), randomUUID()].sort();
      await till.place(...ids);
      till.lost = Object.assign(new Error('connection reset'), { code: 'ECONNRESET' });
      await till.work();
      expect(till.lost).toBeUndefined();
      expect(await till.outcome()).toEqual({ written: ids, published: ids, held: [] });
    });

    it('a function of a perspective that fails holds its own stream, writes nothing and publishes nothing', async () => {
      const till = new Till(world);
      await till.register();
      const [bad, ...good] = [randomUUID(), randomUUID(), randomUUID()];
      till.failing.add(bad);
      await till.place(good[0] as string, bad, good[1] as string);
      await till.work();
      expect(await till.outcome()).toEqual({ written: good.sort(), published: good.sort(), held: [bad] });
      till.failing.clear();
      await world.db.query('update wh_perspective_checkpoints set retry_at = now() where held', []);
      await till.work();
      const all = [bad, ...good].sort();
      expect(await till.outcome()).toEqual({ written: all, published: all, held: [] });
    });
  });
}
