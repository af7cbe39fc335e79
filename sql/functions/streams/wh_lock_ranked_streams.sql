-- Locks up to p_room free streams of a lane that are due and whose priority is between two numbers, the highest first,
-- then the longest wait. As wh_lock_due_streams does, it takes up to p_spare of any partition, and beyond that those of
-- the caller's own partitions or those that have waited since before p_aged.
-- p_capped_to: only in these partitions. Null: in all.
-- Locks: stream rows, skip locked; it never waits.
-- Reads by: wh_active_streams_ranked.
-- Raises: none
-- Called by: wh_lock_due_streams
create or replace function wh_lock_ranked_streams(
  p_lane text, p_from int, p_to int, p_room int, p_spare int, p_instances int, p_rank int, p_cooling uuid[], p_aged timestamptz, p_capped_to int[]
)
returns wh_locked
language plpgsql
as $$
declare
  r wh_locked := row('{}', '{}', '{}', '{}');
  v_room int := case when p_spare > 0 then least(p_spare, p_room) else p_room end;
  v_stream_ids uuid[];
  v_partitions int[];
begin
  -- The second round is for the caller's own, when the first was full.
  for v_round in case when p_spare > 0 then 1 else 2 end .. 2 loop
    exit when v_room <= 0;
    select array_agg(w.stream_id), array_agg(w.partition_number) into v_stream_ids, v_partitions
    from (
      select s.stream_id, s.partition_number
      from wh_active_streams s
      where {stream_is_ranked}
      order by s.priority desc, s.available_at
      limit v_room
      for no key update skip locked
    ) w;
    r.stream_ids := r.stream_ids || v_stream_ids;
    r.partitions := r.partitions || v_partitions;
    exit when coalesce(cardinality(v_stream_ids), 0) < v_room;
    v_room := p_room - cardinality(r.stream_ids);
  end loop;
  return r;
end
$$;
