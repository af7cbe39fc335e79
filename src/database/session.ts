// The session of PostgreSQL that a transaction runs in:
// how it is made to end by itself, and what it does now.
// In: its process id. Out: a statement, or its state.
// Called by the watch over transactions; it never ends a session.
import { type ConnectionPool, type Queryable, withPooledClient } from './connection.js';

const setting = 'idle_in_transaction_session_timeout';

/**
 * Returns the first statement of a receptor's transaction. When no statement follows for
 * the time of a lease, PostgreSQL ends the transaction: its process is stalled or its
 * machine is gone, and the next holder needs its locks. A shorter timeout of the session is
 * kept. The statement returns the process id of the session, by which the watch finds it.
 */
export function openingStatement(leaseSeconds: number): string {
  const current = `current_setting('${setting}')`;
  const isShorter = `nullif(${current}, '0')::interval < interval '${leaseSeconds} s'`;
  return `select pg_backend_pid()::text as pid, set_config('${setting}', case when ${isShorter} then ${current} else '${leaseSeconds * 1000}' end, true) as idle_limit`;
}

/** Returns the statement that also begins the transaction: one text is one round trip. */
export function beginStatement(leaseSeconds: number): string {
  return `begin isolation level read committed; ${openingStatement(leaseSeconds)}`;
}

/**
 * Returns the process id from the answer to either statement. A
 * text that starts with `begin` has a result for each statement.
 */
export function pidOf(answer: unknown): string | undefined {
  const last = [answer].flat().at(-1) as { readonly rows?: readonly unknown[] } | undefined;
  return (last?.rows?.[0] as { readonly pid?: string } | undefined)?.pid;
}

/**
 * What a session does. `working`: it runs a statement, also when that waits for a lock.
 * `idle`: it waits for the next one. `transmitting`: it waits for the network in the middle
 * of a statement. `gone`: it has ended. `unseen`: PostgreSQL did not return its state.
 */
export type SessionState = 'working' | 'idle' | 'transmitting' | 'gone' | 'unseen';

export type Sessions = (pid: string | undefined) => SessionState;

/** Checks that the connection answers. */
export async function signOfLife(db: Queryable): Promise<void> {
  await db.query('select 1');
}

const text = `
  select pid::text, state, wait_event_type as waits_for
  from pg_stat_activity
  where pid = any ($1::text::int[])`;

interface Row {
  readonly pid: string;
  readonly state: string | null;
  readonly waits_for: string | null;
}

/**
 * Reads the states of sessions over the pool that answers
 * first. Never fails: when none answers, all are unseen.
 */
export async function lookAtSessions(
  pools: readonly ConnectionPool[],
  pids: readonly string[],
  withinMs: number,
): Promise<Sessions> {
  const values = [`{${pids.join(',')}}`];
  const ask = async (pool: ConnectionPool) =>
    withPooledClient(pool, (client) => client.query(text, values), withinMs);
  try {
    const { rows } = await Promise.any(pools.map(ask));
    const states = new Map((rows as readonly Row[]).map((row) => [row.pid, stateOf(row)]));
    return (pid) => (pid === undefined ? 'unseen' : (states.get(pid) ?? 'gone'));
  } catch {
    return () => 'unseen';
  }
}

function stateOf({ state, waits_for }: Row): SessionState {
  // Null: the session is of another role. Disabled: track_activities is off.
  if (state === null || state === 'disabled') return 'unseen';
  if (state.startsWith('idle')) return 'idle';
  return waits_for === 'Client' ? 'transmitting' : 'working';
}
