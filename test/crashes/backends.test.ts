import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { Orders } from './orders.js';
import { startProcess } from './process.js';

/** Every connection of the instances, also the one that listens. Returns how many there were. */
async function terminateBackends(db: TestDatabase): Promise<number> {
  const { rows } = await db.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'instance'`,
  );
  return rows.length;
}

async function listeningCount(db: TestDatabase): Promise<number> {
  const { rows } = await db.pool.query(
    `select 1 from pg_stat_activity where datname = current_database() and query ~ '^listen|wh_fall_asleep|wh_wake_up'
     and application_name = 'instance'`,
  );
  return rows.length;
}

describe('Connections that PostgreSQL ends, again and again, under load', () => {
  it('cost no message, no order and no process', async () => {
    await using db = await createTestDatabase();
    const orders = await Orders.of(db.pool, 8);
    const connectionString = `${db.connectionString}?application_name=instance`;
    await using one = await startProcess({ connectionString, name: 'one', handlerMs: 5 });
    await using two = await startProcess({ connectionString, name: 'two', handlerMs: 5 });
    for (let round = 1; round <= 15; round++) {
      await orders.place(2);
      await orders.untilHandled(orders.effectCount / 4);
      await eventually(async () => expect(await terminateBackends(db)).toBeGreaterThan(2));
      await pause(50);
    }
    await orders.expectFaultless();
    expect([one.hasEnded, two.hasEnded]).toEqual([false, false]);
    await eventually(async () => expect(await listeningCount(db)).toBe(2));
    for (const instance of [one, two]) instance.signal('SIGTERM');
    expect(await Promise.all([one.ended, two.ended])).toEqual([0, 0]);
  });
});
