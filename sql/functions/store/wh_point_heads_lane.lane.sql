-- Sets the head of streams that this call has inserted as blocked to their first message, which is stored by now. So a
-- later arrival is known to lie before it or behind it (wh_lower_heads). If something unadmitted has arrived before it,
-- the stream is due.
-- Only for calls that store something scheduled.
-- Locks: none; the call has inserted the streams.
-- Reads by: streams by primary key, messages by wh_{lane}_stream.
-- Raises: none
-- Called by: wh_try_store
create or replace function wh_point_heads_{lane}(c wh_call, p_streams wh_open_stream[])
returns void
language plpgsql
-- Rows are looked up one by one, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_made uuid[] := array(select s.stream_id from unnest(p_streams) s where s.lane = '{lane}' and s.fresh and not s.held);
begin
  if v_made = '{}' then
    return;
  end if;
  update wh_active_streams s
  set head = coalesce(f.sequence_order, s.head), is_blocked = coalesce(f.scheduled_for > c.now, false), available_at = greatest(f.scheduled_for, c.now), priority = f.priority
  from unnest(v_made) as k(stream_id)
  -- A lateral join with a limit stays one probe per row; an exists may become a join over the whole table.
  left join lateral (
    select m.sequence_order, m.scheduled_for, {priority} as priority from wh_{lane} m
    where m.stream_key = k.stream_id and m.processed_at is null
    order by m.sequence_order
    limit 1
  ) f on true
  -- "is true" keeps the planner from reading a whole lane by another index than the primary key.
  where s.stream_id = k.stream_id and (s.lane = '{lane}') is true and s.is_blocked;
end
$$;
