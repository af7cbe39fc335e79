import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { Orders } from './support/orders.js';
import { startProcess } from './support/process.js';

/** What an instance that has stopped must not leave behind. */
async function tracesLeft(pool: pg.Pool): Promise<readonly unknown[]> {
  const { rows } = await pool.query(`
    select 'lease' as trace, instance_id from wh_outbox where instance_id is not null
    union all select 'lease', instance_id from wh_inbox where instance_id is not null
    union all select 'stream', instance_id from wh_active_streams where instance_id is not null
    union all select 'instance', instance_id from wh_service_instances where service_name = 'shop'
    union all select 'attempt', null from wh_outbox where attempts > 0
    union all select 'attempt', null from wh_inbox where attempts > 0`);
  return rows;
}

it('a stop in the middle of the work leaves no lease and counts no attempt', async () => {
  await using db = await createTestDatabase();
  const { connectionString } = db;
  const orders = await Orders.of(db.pool, 4);
  await using first = await startProcess({ connectionString, name: 'first', handlerMs: 50 });
  await orders.place(20);
  await orders.untilHandled(20);
  first.signal('SIGTERM');
  expect(await first.ended).toBe(0);
  expect(await tracesLeft(db.pool)).toEqual([]);
  expect((await orders.verdict()).lost).not.toEqual([]); // there was more to do

  await using _second = await startProcess({ connectionString, name: 'second' });
  await orders.expectFaultless();
});

it('five instances started, stopped and killed at random lose nothing, double nothing and keep the order', async () => {
  await using db = await createTestDatabase();
  const { connectionString } = db;
  const orders = await Orders.of(db.pool, 10);
  let livesLived = 0;

  async function liveAndDie(slot: number): Promise<void> {
    for (let life = 1; performance.now() < end; life++) {
      await using instance = await startProcess({
        connectionString,
        name: `${slot}.${life}`,
        handlerMs: 10,
      });
      await pause(Math.random() * 1_500);
      const kills = Math.random() < 0.5;
      instance.signal(kills ? 'SIGKILL' : 'SIGTERM');
      expect(await instance.ended).toBe(kills ? 'SIGKILL' : 0);
      livesLived++;
    }
  }
  const end = performance.now() + 6_000;
  const lives = Promise.all([1, 2, 3, 4, 5].map(liveAndDie));
  while (performance.now() < end) {
    await orders.place(1);
    await pause(150);
  }
  await lives;
  expect(livesLived).toBeGreaterThanOrEqual(5);
  await using _last = await startProcess({ connectionString, name: 'last' });
  await orders.expectFaultless();
});
