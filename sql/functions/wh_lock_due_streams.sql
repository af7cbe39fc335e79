-- Locks up to p_room streams of a lane that the caller may take: first those whose lease has run out, anybody's;
-- then free ones that are due, of its own partitions or waiting longer than the grace period.
-- Locks: stream rows, skip locked: it never waits.
-- Reads by wh_active_streams_leased and wh_active_streams_free, from the lane's floors.
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
  v_free uuid[];
  v_free_partitions int[];
begin
  if c.max_partitions is not null then
    v_capped_to := wh_held_partitions(c);
    v_capped_to := case when cardinality(v_capped_to) >= c.max_partitions then v_capped_to end;
  end if;
  select coalesce(array_agg(e.stream_id), '{}'), array_agg(e.partition_number) into r.expired, v_partitions
  from (
    select s.stream_id, s.partition_number
    from wh_active_streams s
    where s.lane = p_lane and s.instance_id is not null
      and s.lease_expiry between p_leased_from and c.now
      and (v_capped_to is null or s.partition_number = any(v_capped_to))
    order by s.lease_expiry
    limit p_room
    for no key update skip locked
  ) e;
  select coalesce(array_agg(f.stream_id), '{}'), array_agg(f.partition_number) into v_free, v_free_partitions
  from (
    select s.stream_id, s.partition_number
    from wh_active_streams s
    where s.lane = p_lane and s.instance_id is null
      and s.available_at between p_free_from and c.now
      and (s.partition_number % v_instances = v_rank
           or s.available_at <= c.now - make_interval(secs => c.takeover_seconds::double precision))
      and (v_capped_to is null or s.partition_number = any(v_capped_to))
    order by s.available_at
    limit p_room - cardinality(r.expired)
    for no key update skip locked
  ) f;
  r.stream_ids := r.expired || v_free;
  if c.max_partitions is not null then
    v_partitions := v_partitions || v_free_partitions;
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
