// What was written, as the server counts it: rows inserted, updated and deleted, by table. A backend reports
// its counts with a delay, at the latest when it ends. So to count the writes of another backend, wait until
// it is gone (untilAlone).

import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';

type RowWrites = ReadonlyMap<string, number>;

const mostWaitMs = 15_000;
/**
 * Tables of heartbeats and floors. They are written a few times a second, however many messages there are.
 */
const writtenByTime = ['wh_service_instances', 'wh_lanes', 'wh_admission', 'wh_subscriptions'];

export async function rowWrites(client: pg.Client): Promise<RowWrites> {
  await client.query('select pg_stat_force_next_flush()');
  const { rows } = await client.query<{ name: string; rows: number }>(
    `select relname as name, (n_tup_ins + n_tup_upd + n_tup_del)::int as rows from pg_stat_user_tables
     where relname <> all($1)`,
    [writtenByTime],
  );
  return new Map(rows.map((row) => [row.name, row.rows]));
}

/** The writes of each table that was written at all, the most written first. */
export function writesBetween(before: RowWrites, after: RowWrites): [table: string, rows: number][] {
  return [...after]
    .map(([name, rows]): [string, number] => [name, rows - (before.get(name) ?? 0)])
    .filter(([, rows]) => rows > 0)
    .sort(([, a], [, b]) => b - a);
}

/**
 * Waits until no other backend of any user is connected to this database, so that all their writes are
 * counted.
 */
export async function untilAlone(client: pg.Client): Promise<void> {
  const others = `
    select from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`;
  const end = performance.now() + mostWaitMs;
  while ((await client.query(others)).rowCount !== 0) {
    if (performance.now() > end) throw new Error('another session is still connected to the database');
    await pause(20);
  }
}
