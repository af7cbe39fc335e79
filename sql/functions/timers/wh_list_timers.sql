-- Returns the timers that wait, in the order in which they will fire; of a type or of a stream, if given.
-- p_after_due, p_after_order: due_at, as seconds since 1970, and timer_order of the last one that was read before.
-- Locks: none
-- Reads by: wh_timers_due, or wh_timers_stream for those of one stream.
-- Raises: none
-- Called by: timer-functions.ts
create or replace function wh_list_timers(
  p_type text default null, p_stream_id uuid default null, p_limit int default 100,
  p_after_due double precision default null, p_after_order bigint default null
)
returns table (
  message_id uuid, event_type text, stream_id uuid, destination text, due_at timestamptz, timer_order bigint, created_at timestamptz, scope jsonb
)
language plpgsql security definer stable
set search_path from current
set plan_cache_mode = force_custom_plan
as $$
begin
  return query
  select t.message_id, t.event_type, t.stream_id, t.destination, t.due_at, t.timer_order, t.created_at, t.scope
  from wh_timers t
  where (p_type is null or t.event_type = p_type)
    and (p_stream_id is null or t.stream_id = p_stream_id)
    and (p_after_due is null or (t.due_at, t.timer_order) > (to_timestamp(p_after_due), coalesce(p_after_order, {Everything})))
  order by t.due_at, t.timer_order
  limit p_limit;
end
$$;
