-- Returns what wh_lock_ranked_streams would lock, if nobody had locked anything: without the streams p_gone, and with
-- the rows p_changed in place of their own. p_only: only among p_changed. Blocked streams whose time has come are due.
-- p_left: how many streams of others' partitions the call may still take; p_spare: how many it might at first.
-- Locks: none
-- Reads by: wh_active_streams_ranked; wh_active_streams_blocked, from the lane's floor.
-- Raises: none
-- Called by: wh_would_lock
create or replace function wh_would_lock_ranked(
  c wh_call, p_lane text, p_from int, p_to int, p_room int, p_left int, p_spare int, p_instances int, p_rank int, p_aged timestamptz, p_capped_to int[],
  p_free_from timestamptz, p_changed wh_active_streams[], p_gone uuid[], p_only boolean
)
returns wh_locked
language plpgsql stable
as $$
declare
  r wh_locked := row('{}', '{}', '{}', '{}');
  p_cooling uuid[] := '{}';
  v_apart uuid[] := p_gone || array(select x.stream_id from unnest(p_changed) x);
  v_room int := case when p_left > 0 then least(p_left, p_room) else p_room end;
  v_stream_ids uuid[];
  v_partitions int[];
begin
  for v_round in case when p_left > 0 then 1 else 2 end .. 2 loop
    exit when v_room <= 0;
    select array_agg(w.stream_id), array_agg(w.partition_number) into v_stream_ids, v_partitions
    from (
      (select s.stream_id, s.partition_number, s.priority, s.available_at from wh_active_streams s
       where {stream_is_ranked} and not p_only and s.stream_id <> all(v_apart)
       order by s.priority desc, s.available_at limit v_room)
      union all
      (select s.stream_id, s.partition_number, s.priority, s.available_at from wh_active_streams s
       where {stream_is_ripe} and s.priority between p_from and p_to and not p_only and s.stream_id <> all(v_apart || r.stream_ids)
         and (v_round = 1 or s.partition_number % p_instances = p_rank or s.available_at <= p_aged)
       order by s.available_at limit 1000)
      union all
      select s.stream_id, s.partition_number, s.priority, s.available_at from unnest(p_changed) s
      where ({stream_is_ranked} or {stream_is_ripe} and s.priority between p_from and p_to
             and (v_round = 1 or s.partition_number % p_instances = p_rank or s.available_at <= p_aged))
        and s.stream_id <> all(p_gone || r.stream_ids)
      order by priority desc, available_at, stream_id
      limit v_room
    ) w;
    r.stream_ids := r.stream_ids || v_stream_ids;
    r.partitions := r.partitions || v_partitions;
    exit when coalesce(cardinality(v_stream_ids), 0) < v_room;
    v_room := p_room - cardinality(r.stream_ids);
  end loop;
  return r;
end
$$;
