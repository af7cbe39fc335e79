// The calls by which instances ask for work and report it, among the counts of a CountingPool:
// process_work_batch, called by its name or by a function around it. A question that sees none of them
// measures nothing, and throws.

import type pg from 'pg';
import type { Counts } from './counting-pool.js';

/** The functions that a runtime may call. A function that is not installed, or not called, counts as zero. */
const workFunctions: readonly string[] = ['process_work_batch'];

export function workCalls({ statements }: Counts): number {
  return workFunctions.reduce((sum, name) => sum + (statements.get(name) ?? 0), 0);
}

/**
 * The function that was called most. It is the outermost one, and its time includes that of the functions it
 * calls.
 */
export function calledFunction(counts: readonly Counts[]): string {
  const times = (name: string) =>
    counts.reduce((sum, { statements }) => sum + (statements.get(name) ?? 0), 0);
  const [name] = workFunctions.filter((each) => times(each) > 0).sort((a, b) => times(b) - times(a));
  if (name !== undefined) return name;
  const seen = counts.flatMap(({ statements }) => [...statements.keys()]);
  throw new Error(
    `no call of ${workFunctions.join(' or ')} was seen, only: ${[...new Set(seen)].join(', ') || 'nothing'}`,
  );
}

export type FunctionTimes = ReadonlyMap<string, { readonly calls: number; readonly milliseconds: number }>;

/** The server's counts of its functions (`track_functions`). */
export async function functionTimes(client: pg.Client): Promise<FunctionTimes> {
  const { rows } = await client.query<{ name: string; calls: number; milliseconds: number }>(
    'select funcname as name, calls::int, total_time as milliseconds from pg_stat_user_functions',
  );
  return new Map(rows.map(({ name, ...times }) => [name, times]));
}

/** Milliseconds per call between two counts; undefined when there was no call. */
export function msPerCall(before: FunctionTimes, after: FunctionTimes, name: string): number | undefined {
  const [a, b] = [before.get(name), after.get(name)];
  const calls = (b?.calls ?? 0) - (a?.calls ?? 0);
  return calls === 0 ? undefined : ((b?.milliseconds ?? 0) - (a?.milliseconds ?? 0)) / calls;
}
