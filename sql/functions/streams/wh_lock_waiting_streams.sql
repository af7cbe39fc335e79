-- Locks up to p_room free streams of a lane that other instances had no handler for and the caller has, or that wait at
-- a limit of which the caller asks, no more than it asks for. The highest priority comes first, then the longest wait.
-- Any partition counts: the owner had no handler, or the stream has waited longer than the grace period already.
-- p_capped_to: only in these partitions. Null: in all.
-- Locks: stream rows, skip locked; it never waits.
-- Reads by: wh_active_streams_waiting.
-- Raises: none
-- Called by: wh_lock_due_streams
create or replace function wh_lock_waiting_streams(c wh_call, p_lane text, p_room int, p_capped_to int[])
returns wh_locked
language plpgsql
as $$
declare
  r wh_locked := row('{}', '{}', '{}', '{}');
  v_name text;
  v_room int;
  v_stream_ids uuid[];
  v_partitions int[];
begin
  foreach v_name in array wh_waited_for(c, p_lane) loop
    exit when cardinality(r.stream_ids) >= p_room;
    v_room := c.inbox_limit_rooms[array_position(c.inbox_limits, v_name)];
    select array_agg(w.stream_id), array_agg(w.partition_number) into v_stream_ids, v_partitions
    from (
      select s.stream_id, s.partition_number
      from wh_active_streams s
      where {stream_waits_for_name}
      order by coalesce(s.priority, 0) desc, s.available_at
      limit least(p_room - cardinality(r.stream_ids), v_room)
      for no key update skip locked
    ) w;
    r.stream_ids := r.stream_ids || v_stream_ids;
    r.partitions := r.partitions || v_partitions;
    if v_room is not null and v_stream_ids is not null then
      r.limited := r.limited || v_stream_ids;
      r.limits := r.limits || array_fill(v_name, array[cardinality(v_stream_ids)]);
    end if;
  end loop;
  return r;
end
$$;
