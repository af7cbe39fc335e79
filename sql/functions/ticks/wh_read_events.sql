-- Reads events in the order of all events, which is (tick, sequence_number), behind a position: (0, 0), or that of the
-- last row of the read before. Only these types; null: all. Makes no tick.
-- The last row is where the next read goes on. It has no event when the read has looked further than its last event: so
-- a position moves also when nothing matches. No row: there is nothing behind the position.
-- It looks at no more than 2 000 ticks and about 20 000 events. Ticks without one of the types are passed by.
-- A position within ticks that were merged since is right: their numbers lie above one another.
-- Locks: none
-- Reads by: ticks by primary key; events by wh_event_store_sequence and wh_event_archive_sequence.
-- Raises: WB001
-- Called by: event-functions.ts, wh_next_held, wh_next_logged, wh_perspective_lag
create or replace function wh_read_events(p_after_tick bigint, p_after_number bigint, p_types text[] default null, p_limit int default 1000)
returns setof wh_ticked_event
language plpgsql stable security definer
set search_path from current
-- Tick after tick, range after range, until there are enough; see docs/internals/mechanism.md#plans-that-hold
set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set plan_cache_mode = force_generic_plan
as $$
declare
  c_most_ticks constant int := 2000;
  c_most_events constant int := 20000;
begin
  if p_after_tick is null or p_after_number is null then
    perform wh_refuse(case when p_after_tick is null then 'p_after_tick' else 'p_after_number' end, 'is null, a value is needed');
  elsif p_limit is null or p_limit < 1 then
    perform wh_refuse('p_limit', 'must be at least 1');
  end if;
  return query
  with near as materialized (
    select t.tick, t.covers, t.events, t.types && p_types is not false as is_wanted, t.first_tick <= p_after_tick as is_begun
    from wh_event_ticks t
    where t.tick >= p_after_tick and (t.first_tick > p_after_tick or t.covers && int8range(p_after_number, null, '()'))
    order by t.tick
    -- Each has an event: of all types, so many are enough.
    limit case when p_types is null then least(p_limit, c_most_ticks) else c_most_ticks end
  ), counted as (
    select n.*, sum(n.events) filter (where n.is_wanted) over (order by n.tick rows between unbounded preceding and 1 preceding) as events_before
    from near n
  ), looked as materialized (
    select c.* from counted c where c.events_before < c_most_events is not false
  ), found as materialized (
    select t.tick, e.*
    from (select * from looked k where k.is_wanted order by k.tick) t
    cross join lateral (
      select x.* from unnest(case when t.is_begun then t.covers * int8multirange(int8range(p_after_number, null, '()')) else t.covers end) r
      cross join lateral (
        select s.sequence_number, s.event_id, s.stream_id, s.version, s.event_type, s.aggregate_type, s.event_data, s.metadata, s.scope, s.created_at
        from wh_events s
        where s.sequence_number >= lower(r) and s.sequence_number < upper(r) and (p_types is null or s.event_type = any(p_types))
        order by s.sequence_number
        limit p_limit
      ) x
      order by x.sequence_number
      limit p_limit
    ) e
    order by t.tick, e.sequence_number
    limit p_limit
  ), rest as (
    select k.tick, upper(k.covers) - 1 as sequence_number
    from looked k
    where (select count(*) from found) < p_limit
    order by k.tick desc
    limit 1
  )
  select * from found
  union all
  select r.tick, r.sequence_number, null, null, null, null, null, null, null, null, null
  from rest r
  where not exists (select from found f where f.tick = r.tick and f.sequence_number = r.sequence_number)
  order by 1, 2;
end
$$;
