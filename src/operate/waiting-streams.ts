// The streams that wait longest, from the heads of indexes: each lane and kind by its own, and the few that are left are sorted. To
// sort the view wh_stream_status would read every stream that has work.
// In: the schema in quotes, a lane, the number of the parameter that is the limit. Out: a query of lane and stream_id, in order.

export function waitingStreams(
  schema: string,
  lane: 'outbox' | 'inbox' | undefined,
  limit: `$${number}`,
): string {
  const waiting = (of: string, kind: string, order: string) =>
    `(select lane, stream_id, due_at from ${schema}.wh_waiting_streams
      where lane = '${of}' and ${kind} order by ${order} limit ${limit}::int)`;
  const parts = (lane === undefined ? ['outbox', 'inbox'] : [lane]).flatMap((of) => [
    waiting(of, 'waits_for is null and not is_blocked', 'due_at'),
    waiting(of, 'is_blocked', 'due_at'),
    waiting(of, 'waits_for is not null', 'waits_for, due_at'),
    `(select lane, stream_id, null from ${schema}.wh_leases where lane = '${of}' order by lease_expiry limit ${limit}::int)`,
  ]);
  return `select lane, stream_id, min(due_at) as due_at from (${parts.join(' union all ')}) p
    group by 1, 2 order by 3 nulls last, 2 limit ${limit}::int`;
}

/** The status of streams that were found (f), one by one: a join would look at all. */
export const statusOfFound = (schema: string) =>
  `cross join lateral (select * from ${schema}.wh_stream_status t
   where t.lane = f.lane and t.stream_id = f.stream_id limit 1) s`;
