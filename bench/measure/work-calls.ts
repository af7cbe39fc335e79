// The calls by which instances ask for work and report it, in what a CountingPool has counted: process_work_batch, whether it is
// called by its name or by way of a function around it. A question that sees none of them measures nothing, and says so.

import type pg from 'pg';
import type { Counts } from './counting-pool.js';

/** Those that a runtime may call; what is not installed, or not called, counts for nothing. */
const workFunctions: readonly string[] = ['process_work_batch'];

export function workCalls({ statements }: Counts): number {
  return workFunctions.reduce((sum, name) => sum + (statements.get(name) ?? 0), 0);
}

/** The one that was called most: it stands outside, and its time holds that of whatever it calls. */
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

/** What the server has counted for its functions (`track_functions`). */
export async function functionTimes(client: pg.Client): Promise<FunctionTimes> {
  const { rows } = await client.query<{ name: string; calls: number; milliseconds: number }>(
    'select funcname as name, calls::int, total_time as milliseconds from pg_stat_user_functions',
  );
  return new Map(rows.map(({ name, ...times }) => [name, times]));
}

/** Milliseconds of a call between two counts; undefined when there was none. */
export function msPerCall(before: FunctionTimes, after: FunctionTimes, name: string): number | undefined {
  const [a, b] = [before.get(name), after.get(name)];
  const calls = (b?.calls ?? 0) - (a?.calls ?? 0);
  return calls === 0 ? undefined : ((b?.milliseconds ?? 0) - (a?.milliseconds ?? 0)) / calls;
}
