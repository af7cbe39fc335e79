import type pg from 'pg';

/** All leases end now, as if their time had passed since their holder died. */
export async function endLeases(pool: pg.Pool): Promise<void> {
  for (const table of ['wh_active_streams', 'wh_outbox', 'wh_inbox']) {
    await pool.query(`update ${table} set lease_expiry = clock_timestamp() where instance_id is not null`);
  }
}
