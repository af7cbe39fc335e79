// What time and other instances do to perspectives in a schedule: by update.
import type { TestDatabase } from '../../support/database.js';

/** The leases of these bookmarks end; but who works in a transaction keeps its lock. */
export async function expire(db: TestDatabase, name: string | null): Promise<void> {
  await db.pool.query(
    `update wh_perspective_bookmarks set lease_expiry = clock_timestamp() - interval '1 s'
     where ctid = any(array(
       select ctid from wh_perspective_bookmarks
       where instance_id is not null and ($1::text is null or split_part(name, '@', 1) = $1) for update skip locked))`,
    [name],
  );
}

/** What is held is tried again, and builds that have caught up may be switched to. */
export async function dueNow(db: TestDatabase): Promise<void> {
  await db.pool.query('update wh_perspective_checkpoints set retry_at = clock_timestamp() where held');
  await db.pool.query(`update wh_perspectives set switch_after = '-infinity', halted_until = '-infinity'`);
}

/** An instance with nothing to do has asked for a part of everything. */
export async function wantParts(db: TestDatabase): Promise<void> {
  await db.pool.query('update wh_perspectives set split_wanted_at = clock_timestamp()');
}

/** As the audit does with old ticks. All but the newest one become one, where their numbers allow it. */
export async function mergeTicks(db: TestDatabase): Promise<void> {
  await db.pool.query(
    `with locked as materialized (select wh_lock_ticks())
     select wh_merge_ticks(0, (select max(tick) - 1 from wh_event_ticks)) from locked`,
  );
}
