import type pg from 'pg';

/**
 * All leases end now, as if their time had passed since their holder died. In one transaction: who claims between two would
 * hold a stream of which the messages have ended. Its id comes before its time, as in a call (wh_stamp_call).
 */
export async function endLeases(pool: pg.Pool): Promise<void> {
  const ends = ['wh_active_streams', 'wh_outbox', 'wh_inbox'].map(
    (table) => `update ${table} set lease_expiry = clock_timestamp() where instance_id is not null`,
  );
  await pool.query(['select pg_current_xact_id()', ...ends].join('; '));
}
