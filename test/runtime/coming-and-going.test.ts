import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { inProcessTransport, postgresTransport } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { Orders } from '../crashes/support/orders.js';
import { createShop } from '../crashes/support/shop.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

/** Repeatable, whatever the machine does. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

describe.each([
  ['in process', inProcessTransport],
  ['PostgreSQL', postgresTransport],
])('Instances that come and go all the time, connected by the transport %s', (_, makeTransport) => {
  it('instances that come and go lose nothing, double nothing and keep the order', async () => {
    await using db = await createTestDatabase();
    const orders = await Orders.of(db.pool, 8);
    const transport = makeTransport();
    const random = randomFrom(42);
    let isOver = false;
    const logged: string[] = [];
    const logger = { ...silentLogger, error: (_facts: object, text: string) => void logged.push(text) };
    const options = { pool: db.pool, transport, logger, concurrency: 2, pollIntervalMs: 50 };

    async function liveAndLeave(): Promise<void> {
      while (!isOver) {
        const shop = createShop(
          { ...options, strategy: random() < 0.5 ? 'immediate' : 'interval' },
          { handlerMs: 3 },
        );
        const started = shop.start().catch(() => {});
        if (random() < 0.8) await started;
        await pause(random() * 150);
        await shop.stop({ seconds: random() < 0.5 ? 0 : 5 });
        await started;
      }
    }
    // It subscribes first: what is sent to a service that has never been there is sent to nobody.
    const first = createShop(options);
    await first.start();
    const lives = Promise.all([liveAndLeave(), liveAndLeave(), liveAndLeave()]);
    await first.stop();
    for (let i = 0; i < 15; i++) {
      await orders.place(1);
      await pause(60);
    }
    isOver = true;
    await lives;
    await using last = createShop(options);
    await last.start();
    await orders.expectFaultless();
    await eventually(async () => {
      const { rows } = await db.pool.query(`select * from wh_service_instances where service_name = 'shop'`);
      expect(rows).toHaveLength(1);
    });
    expect(logged).toEqual([]);
  });
});
