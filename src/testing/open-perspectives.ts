// The perspectives of a database that have not come to the end of the events, and why.
import type { Queryable } from '../database/index.js';

export interface OpenPerspective {
  readonly name: string;
  /** `behind`: there are events that it has not read. `failed`: a stream, or the model of a key, waits for its retry. */
  readonly state: 'behind' | 'failed';
  /** What failed: null, if it is behind. */
  readonly failure: {
    /** The stream or the key. */
    readonly id: string;
    readonly version: number;
    readonly type: string;
    readonly attempts: number;
    readonly error: string;
  } | null;
}

/**
 * Reads what is left of these perspectives: events that no tick has, ticks with one of their types behind a bookmark,
 * streams that are to be tried again. What is held for good is not: as a dead letter, it waits for somebody to act.
 */
export async function openPerspectives(
  db: Queryable,
  schema: string,
  codes: readonly string[],
): Promise<readonly OpenPerspective[]> {
  const s = schema;
  const text = `
    with newest as (
      select t.next_xid, t.open from ${s}.wh_event_ticks t order by t.tick desc limit 1
    ), unsealed as (
      select exists (
        select from ${s}.wh_event_store e
        where not exists (select from newest n where e.transaction_id < n.next_xid and e.transaction_id <> all(n.open))
      ) as is_any
    ), mine as (
      select p.* from ${s}.wh_perspectives p where p.code = any($1) and not p.is_paused
    )
    select p.name, 'behind' as state, null::json as failure
    from mine p
    where (select is_any from unsealed) or p.state = 'building' or p.state = 'beside' and p.switches or exists (
      select from unnest(p.cuts) cut
      cross join lateral (
        select x.* from ${s}.wh_perspective_bookmarks x
        where x.name = p.name and x.from_partition = cut order by x.tick desc, x.upto desc limit 1
      ) b
      where b.swept is not null or exists (
        select from ${s}.wh_event_ticks t
        where t.tick >= b.tick and (t.first_tick > b.tick or t.covers && int8range(b.upto, null, '()'))
          and t.types && p.event_types))
    union all
    select p.name, 'behind', null
    from mine p
    where exists (
      select from ${s}.wh_perspective_checkpoints k
      where k.perspective_name = p.name and k.held and k.retry_at is not null and k.failed_version is null)
    union all
    select p.name, 'failed', json_build_object('id', coalesce(k.model_key, k.stream_id::text), 'version', k.failed_version,
      'type', k.failed_type, 'attempts', k.attempts, 'error', k.error)
    from mine p
    join ${s}.wh_perspective_checkpoints k on k.perspective_name = p.name and k.held and k.retry_at is not null and k.failed_version is not null
    order by 1, 2`;
  return (await db.query(text, [codes])).rows as OpenPerspective[];
}

/** Describes an open perspective in one line for people. */
export function describePerspective({ name, failure }: OpenPerspective): string {
  if (failure === null) return `- perspective ${name}: it has not applied all events`;
  const { id, version, type, attempts, error } = failure;
  return `- perspective ${name}: ${id} is held at version ${version} (${type}); it has failed ${attempts} times, the last time with: ${error.split('\n')[0]}`;
}
