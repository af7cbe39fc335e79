-- Returns the rows, as they would be then, of streams of instances that have fallen silent: the call of another one
-- frees them before it claims. That of p_stream_id, and of others no more than the call has room for.
-- Locks: none
-- Reads by: all instances; streams by primary key and wh_active_streams_leased, if there is such an instance.
-- Raises: none
-- Called by: wh_explain_instances_{lane}
create or replace function wh_would_free_{lane}(c wh_call, p_stale_threshold_seconds int, p_room int, p_stream_id uuid)
returns wh_active_streams[]
language plpgsql stable
as $$
declare
  v_stale uuid[] := array(
    select i.instance_id from wh_service_instances i
    where i.last_heartbeat_at < c.now - make_interval(secs => p_stale_threshold_seconds) and i.instance_id <> c.instance_id
    order by i.instance_id);
begin
  if v_stale = '{}' then
    return '{}';
  end if;
  return array(
    select (s.stream_id, s.lane, s.partition_number, null, null, c.now, s.head, s.held_through, s.waits_for, s.is_blocked, s.priority)::wh_active_streams
    from (
      (select * from wh_active_streams o where o.stream_id = p_stream_id and o.lane = '{lane}' and o.instance_id = any(v_stale))
      union
      (select * from wh_active_streams o where o.lane = '{lane}' and o.instance_id is not null and o.instance_id = any(v_stale)
       order by o.stream_id limit p_room)
    ) s
    order by s.stream_id);
end
$$;
