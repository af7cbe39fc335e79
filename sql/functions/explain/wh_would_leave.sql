-- Returns p_changed with the rows of streams that a look would leave to others (wh_leave_streams), as they would be
-- then.
-- Locks: none
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_would_claim_{lane}
create or replace function wh_would_leave(p_lane text, p_left_ids uuid[], p_left_names text[], p_changed wh_active_streams[])
returns wh_active_streams[]
language plpgsql stable
as $$
begin
  if p_left_ids = '{}' then
    return p_changed;
  end if;
  return array(select x::wh_active_streams from unnest(p_changed) x where x.stream_id <> all(p_left_ids)) || array(
    select (o.stream_id, o.lane, o.partition_number, null, null, o.available_at, o.head, 0, l.name, false, o.priority)::wh_active_streams
    from unnest(p_left_ids, p_left_names) as l(stream_id, name)
    cross join lateral (
      select * from unnest(p_changed) x where x.stream_id = l.stream_id
      union all
      select * from wh_active_streams y
      where y.stream_id = l.stream_id and y.lane = p_lane and not exists (select from unnest(p_changed) x where x.stream_id = l.stream_id)
      limit 1
    ) o);
end
$$;
