// The session of PostgreSQL that a transaction runs in: how it is told to end by itself, and what it does now.
// In: its process id. Out: one word for each. Called by the watch over transactions; it never ends a session.
import { type ConnectionPool, type Queryable, withPooledClient } from './connection.js';

const setting = 'idle_in_transaction_session_timeout';

/**
 * The first statement of a receptor's transaction. When nobody says anything in it for the time of a lease, PostgreSQL
 * ends it: its process stands still or its machine is gone, and whoever goes on needs its locks. A session that is more
 * impatient stays so. It gives the id of the session, by which the watch asks about it.
 */
export function openingStatement(leaseSeconds: number): string {
  const current = `current_setting('${setting}')`;
  const isShorter = `nullif(${current}, '0')::interval < interval '${leaseSeconds} s'`;
  return `select pg_backend_pid()::text as pid, set_config('${setting}', case when ${isShorter} then ${current} else '${leaseSeconds * 1000}' end, true) as idle_limit`;
}

/** Begins a transaction with it: one text is one round trip. */
export function beginStatement(leaseSeconds: number): string {
  return `begin isolation level read committed; ${openingStatement(leaseSeconds)}`;
}

/** From the answer to either. Behind a `begin` in one text there is a result for each statement. */
export function pidOf(answer: unknown): string | undefined {
  const last = [answer].flat().at(-1) as { readonly rows?: readonly unknown[] } | undefined;
  return (last?.rows?.[0] as { readonly pid?: string } | undefined)?.pid;
}

/**
 * `working`: at a statement, also when it waits for a lock. `idle`: it waits for the next one. `transmitting`: in the middle of
 * a statement, and the network has to go on. `gone`: it has ended. `unseen`: PostgreSQL did not say.
 */
export type SessionState = 'working' | 'idle' | 'transmitting' | 'gone' | 'unseen';

export type Sessions = (pid: string | undefined) => SessionState;

/** Asks for a sign of life. */
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

/** Over whichever of these answers first. Never fails: when none does, nothing was seen. */
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
  // Null: of another role. Disabled: track_activities is off.
  if (state === null || state === 'disabled') return 'unseen';
  if (state.startsWith('idle')) return 'idle';
  return waits_for === 'Client' ? 'transmitting' : 'working';
}
