// Time passes by update, never by waiting: leases end, schedules are reached, instances fall silent.
import type { TestDatabase } from './database.js';
import type { Instance } from './work.js';

/** The leases of an instance end now. */
export async function expireLeases(db: TestDatabase, { id }: Instance): Promise<void> {
  for (const table of ['wh_active_streams', 'wh_outbox', 'wh_inbox']) {
    await db.pool.query(`update ${table} set lease_expiry = clock_timestamp() where instance_id = $1`, [id]);
  }
}

/** What is scheduled for later is due now. */
export async function reachSchedule(db: TestDatabase): Promise<void> {
  for (const table of ['wh_outbox', 'wh_inbox']) {
    await db.pool.query(`update ${table} set scheduled_for = clock_timestamp() where scheduled_for > now()`);
  }
  await db.pool.query(
    'update wh_active_streams set available_at = clock_timestamp() where available_at > now()',
  );
}

/** The instance was last heard of so long ago; less than zero: its heartbeat will not age during the test. */
export async function silence(db: TestDatabase, { id }: Instance, seconds: number): Promise<void> {
  await db.pool.query(
    'update wh_service_instances set last_heartbeat_at = clock_timestamp() - make_interval(secs => $2) where instance_id = $1',
    [id, seconds],
  );
}

/** What waits without a lease has waited so much longer. The searches' floors go down with it. */
export async function letWaitingAge(db: TestDatabase, seconds: number): Promise<void> {
  await db.pool.query(
    'update wh_active_streams set available_at = available_at - make_interval(secs => $1) where instance_id is null',
    [seconds],
  );
  await db.pool.query("update wh_lanes set free_from = '-infinity', next_from = '-infinity'");
}
