import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { Orders } from './support/orders.js';
import { startProcess } from './support/process.js';

const ofInstances = `from pg_stat_activity where datname = current_database() and application_name = 'instance'`;

async function connectionCount(db: TestDatabase): Promise<number> {
  const { rows } = await db.pool.query(`select 1 ${ofInstances}`);
  return rows.length;
}

/** Every connection of the instances, also the one that listens. */
async function terminateBackends(db: TestDatabase): Promise<void> {
  await db.pool.query(`select pg_terminate_backend(pid) ${ofInstances}`);
}

async function listeningCount(db: TestDatabase): Promise<number> {
  const { rows } = await db.pool.query(
    `select 1 ${ofInstances} and query ~ '^listen|wh_fall_asleep|wh_wake_up'`,
  );
  return rows.length;
}

it('connections that PostgreSQL ends again and again under load cost no message, no order and no process', async () => {
  await using db = await createTestDatabase();
  const orders = await Orders.of(db.pool, 8);
  const connectionString = `${db.connectionString}?application_name=instance`;
  await using one = await startProcess({ connectionString, name: 'one', handlerMs: 5 });
  await using two = await startProcess({ connectionString, name: 'two', handlerMs: 5 });
  for (let round = 1; round <= 15; round++) {
    await orders.place(2);
    await orders.untilHandled(orders.effectCount / 4);
    // Counted before they are ended: to end the first that come back, again and again, would keep the others from coming.
    await eventually(async () => expect(await connectionCount(db)).toBeGreaterThan(2));
    await terminateBackends(db);
    await pause(50);
  }
  await orders.expectFaultless();
  expect([one.hasEnded, two.hasEnded]).toEqual([false, false]);
  await eventually(async () => expect(await listeningCount(db)).toBe(2));
  for (const instance of [one, two]) instance.signal('SIGTERM');
  expect(await Promise.all([one.ended, two.ended])).toEqual([0, 0]);
});
