-- Returns what wh_lock_waiting_streams would lock, if nobody had locked anything: without the streams p_gone, and with
-- the rows p_changed in place of their own. p_only: only among p_changed.
-- Locks: none
-- Reads by: wh_active_streams_waiting.
-- Raises: none
-- Called by: wh_would_lock
create or replace function wh_would_wait(
  c wh_call, p_lane text, p_room int, p_capped_to int[], p_changed wh_active_streams[], p_gone uuid[], p_only boolean
)
returns wh_locked
language plpgsql stable
as $$
declare
  r wh_locked := row('{}', '{}', '{}', '{}');
  v_apart uuid[] := p_gone || array(select x.stream_id from unnest(p_changed) x);
  v_names text[] := array(
    select n.name
    from (
      select w.name, f.priority, f.available_at
      from unnest(wh_waited_for(c, p_lane)) as w(name)
      cross join lateral (
        select coalesce(s.priority, 0) as priority, s.available_at from wh_active_streams s
        where s.lane = p_lane and s.instance_id is null and s.waits_for = w.name
        order by coalesce(s.priority, 0) desc, s.available_at
        limit 1
      ) f
      union all
      select x.waits_for, coalesce(x.priority, 0), x.available_at from unnest(p_changed) x
      where x.instance_id is null
        and (c.inbox_handlers || c.inbox_limits is null or x.waits_for = any(c.inbox_handlers || c.inbox_limits) or split_part(x.waits_for, chr(31), 1) = any(c.inbox_handlers))
    ) n
    where n.name is not null
    group by n.name
    order by max(n.priority) desc, (array_agg(n.available_at order by n.priority desc, n.available_at))[1]);
  v_name text;
  v_room int;
  v_stream_ids uuid[];
  v_partitions int[];
begin
  foreach v_name in array v_names loop
    exit when cardinality(r.stream_ids) >= p_room;
    v_room := c.inbox_limit_rooms[array_position(c.inbox_limits, v_name)];
    select array_agg(w.stream_id), array_agg(w.partition_number) into v_stream_ids, v_partitions
    from (
      (select s.stream_id, s.partition_number, coalesce(s.priority, 0) as priority, s.available_at
       from wh_active_streams s
       where {stream_waits_for_name} and not p_only and s.stream_id <> all(v_apart)
       order by coalesce(s.priority, 0) desc, s.available_at limit p_room)
      union all
      select s.stream_id, s.partition_number, coalesce(s.priority, 0), s.available_at
      from unnest(p_changed) s
      where {stream_waits_for_name} and s.stream_id <> all(p_gone)
      order by priority desc, available_at, stream_id
      limit least(p_room - cardinality(r.stream_ids), v_room)
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
