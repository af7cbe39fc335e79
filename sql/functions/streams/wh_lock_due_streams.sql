-- Locks up to p_room streams of a lane that the caller may take: first those with an expired lease, of any holder; then
-- those that other instances had no handler for, or that wait at a limit; then free ones that are due, by their
-- priority and then by their time. Of the last it takes as many as it could begin at once from any partition, and
-- beyond that those of its own partitions or those that have waited longer than the grace period.
-- Whether a stream is due does not depend on the clock. Blocked streams whose time has come are made due first
-- (wh_unblock_streams); then all share one order.
-- Locks: stream rows, skip locked; it never waits.
-- Reads by: wh_active_streams_leased and wh_active_streams_free, from the lane's floors; the rest as
--   wh_lock_waiting_streams, wh_lock_ranked_streams and wh_unblock_streams.
-- Raises: none
-- Called by: wh_claim_{lane}
create or replace function wh_lock_due_streams(
  c wh_call, p_lane text, p_room int, p_free_from timestamptz, p_leased_from timestamptz
)
returns wh_due
language plpgsql
as $$
declare
  r wh_due;
  v_rank int := case p_lane when 'outbox' then c.outbox_rank else c.inbox_rank end;
  v_instances int := case p_lane when 'outbox' then c.outbox_instances else c.inbox_instances end;
  v_capped_to int[];
  v_partitions int[];
  v_waiting wh_locked := row('{}', '{}', '{}', '{}');
  v_is_ranked boolean;
  v_aged timestamptz := c.now - make_interval(secs => c.takeover_seconds::double precision);
  v_high wh_locked := row('{}', '{}', '{}', '{}');
  v_low wh_locked := row('{}', '{}', '{}', '{}');
  v_rest int;
  v_cooling uuid[] := coalesce(case p_lane when 'outbox' then c.outbox_cooling else c.inbox_cooling end, '{}');
  v_spare int := {spare_streams};
  v_free uuid[];
  v_free_partitions int[];
  v_own uuid[];
  v_own_partitions int[];
begin
  if c.max_partitions is not null then
    v_capped_to := wh_held_partitions(c);
    v_capped_to := case when cardinality(v_capped_to) >= c.max_partitions then v_capped_to end;
  end if;
  select coalesce(array_agg(e.stream_id), '{}'), array_agg(e.partition_number) into r.expired, v_partitions
  from (
    select s.stream_id, s.partition_number
    from wh_active_streams s
    where {stream_is_expired}
    order by s.lease_expiry
    limit p_room
    for no key update skip locked
  ) e;
  if p_lane = 'inbox' and exists (
    select 1 from wh_active_streams s where s.lane = p_lane and s.instance_id is null and s.waits_for is not null limit 1
  ) then
    v_waiting := wh_lock_waiting_streams(c, p_lane, p_room - cardinality(r.expired), v_capped_to);
  end if;
  v_rest := p_room - cardinality(r.expired) - cardinality(v_waiting.stream_ids);
  v_is_ranked := exists (
    select 1 from wh_active_streams s where s.lane = p_lane and s.priority is not null and s.instance_id is null and s.waits_for is null limit 1);
  perform wh_unblock_streams(c, p_lane, v_rest, p_free_from, v_spare, v_instances, v_rank, v_capped_to, v_is_ranked);
  if v_is_ranked then
    v_high := wh_lock_ranked_streams(p_lane, 1, {LargestInt}, v_rest, v_spare, v_instances, v_rank, v_cooling, v_aged, v_capped_to);
    v_rest := v_rest - cardinality(v_high.stream_ids);
    v_spare := case when v_spare > 0 then greatest(v_spare - cardinality(v_high.stream_ids), 0) else 0 end;
  end if;
  select coalesce(array_agg(f.stream_id), '{}'), array_agg(f.partition_number) into v_free, v_free_partitions
  from (
    select s.stream_id, s.partition_number
    from wh_active_streams s
    where {stream_is_due}
    order by s.available_at
    limit case when v_spare > 0 then least(v_spare, v_rest) else v_rest end
    for no key update skip locked
  ) f;
  if v_spare > 0 and v_rest > v_spare and cardinality(v_free) = v_spare then
    select array_agg(f.stream_id), array_agg(f.partition_number) into v_own, v_own_partitions
    from (
      select s.stream_id, s.partition_number
      from wh_active_streams s
      where {stream_is_due_to_owner}
      order by s.available_at
      limit v_rest - v_spare
      for no key update skip locked
    ) f;
    v_free := v_free || v_own;
    v_free_partitions := v_free_partitions || v_own_partitions;
  end if;
  if v_is_ranked then
    v_rest := v_rest - cardinality(v_free);
    v_low := wh_lock_ranked_streams(p_lane, -{LargestInt} - 1, -1, v_rest, greatest(v_spare - cardinality(v_free), 0), v_instances, v_rank, v_cooling, v_aged, v_capped_to);
  end if;
  r.stream_ids := r.expired || v_waiting.stream_ids || v_high.stream_ids || v_free || v_low.stream_ids;
  r.limited := v_waiting.limited;
  r.limits := v_waiting.limits;
  if c.max_partitions is not null then
    v_partitions := v_partitions || v_waiting.partitions || v_high.partitions || v_free_partitions || v_low.partitions;
    v_capped_to := wh_partitions_with_room(c, v_partitions);
    r.stream_ids := array(
      select d.stream_id from unnest(r.stream_ids, v_partitions) as d(stream_id, partition_number)
      where d.partition_number = any(v_capped_to)
    );
    r.expired := array(select unnest(r.expired) intersect select unnest(r.stream_ids));
  end if;
  return r;
end
$$;
