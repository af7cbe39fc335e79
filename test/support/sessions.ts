// Two-session tests wait on what the server says, never on time: a session knows its backend, and
// waitUntilBlocked returns once that backend waits for a lock that another one holds.
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { TestDatabase } from './database.js';

export interface Session {
  readonly client: pg.Client;
  /** The process id of its backend. */
  readonly pid: number;
}

export async function openSession(database: TestDatabase): Promise<Session> {
  const client = await database.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return { client, pid: rows[0]?.pid ?? 0 };
}

/** Resolves with the process ids of those that block it. Fails when the backend is not blocked in time. */
export async function waitUntilBlocked(
  database: TestDatabase,
  pid: number,
  timeoutMs = 60_000,
): Promise<number[]> {
  for (const end = Date.now() + timeoutMs; Date.now() < end; await sleep(5)) {
    const { rows } = await database.pool.query<{ blockers: number[] }>(
      'select pg_blocking_pids($1) as blockers',
      [pid],
    );
    const blockers = rows[0]?.blockers ?? [];
    if (blockers.length > 0) return blockers;
  }
  const { rows } = await database.pool.query(
    'select state, wait_event, query from pg_stat_activity where pid = $1',
    [pid],
  );
  throw new Error(
    `Backend ${pid} was not blocked within ${timeoutMs} ms: ${JSON.stringify(rows[0] ?? 'it is gone')}`,
  );
}
