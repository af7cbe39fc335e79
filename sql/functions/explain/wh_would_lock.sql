-- Returns what wh_lock_due_streams would lock, if nobody had locked anything: without the streams p_gone, and with the
-- rows p_changed in place of their own. p_only: only among p_changed.
-- p_taken: partitions in which the call would have taken something by then.
-- Locks: none
-- Reads by: wh_active_streams_leased, wh_active_streams_free and wh_active_streams_blocked, from the lane's floors; the
--   rest as wh_would_wait.
-- Raises: none
-- Called by: wh_why_unreachable_{lane}, wh_would_claim_{lane}
create or replace function wh_would_lock(
  c wh_call, p_lane text, p_room int, p_free_from timestamptz, p_leased_from timestamptz,
  p_changed wh_active_streams[], p_gone uuid[], p_taken int[], p_only boolean
)
returns wh_due
language plpgsql stable
as $$
declare
  r wh_due;
  v_rank int := case p_lane when 'outbox' then c.outbox_rank else c.inbox_rank end;
  v_instances int := case p_lane when 'outbox' then c.outbox_instances else c.inbox_instances end;
  v_apart uuid[] := p_gone || array(select x.stream_id from unnest(p_changed) x);
  v_cooling uuid[] := '{}';
  v_aged timestamptz := c.now - make_interval(secs => c.takeover_seconds::double precision);
  v_high wh_locked := row('{}', '{}', '{}', '{}');
  v_low wh_locked := row('{}', '{}', '{}', '{}');
  v_is_ranked boolean;
  v_held int[];
  v_capped_to int[];
  v_partitions int[];
  v_waiting wh_locked := row('{}', '{}', '{}', '{}');
  v_rest int;
  v_spare int := {spare_streams};
  v_free uuid[] := '{}';
  v_free_partitions int[] := '{}';
  v_own uuid[];
  v_own_partitions int[];
  -- The names of wh_unblock_streams and wh_partitions_with_room.
  p_rank int := v_rank;
  p_instances int := v_instances;
  p_spare int := v_spare;
  p_capped_to int[];
  p_wanted int[];
begin
  if c.max_partitions is not null then
    v_held := array(select distinct u from unnest(wh_held_partitions(c) || p_taken) u);
    v_capped_to := case when cardinality(v_held) >= c.max_partitions then v_held end;
    p_capped_to := v_capped_to;
  end if;
  select coalesce(array_agg(e.stream_id), '{}'), coalesce(array_agg(e.partition_number), '{}') into r.expired, v_partitions
  from (
    (select s.stream_id, s.partition_number, s.lease_expiry from wh_active_streams s
     where {stream_is_expired} and not p_only and s.stream_id <> all(v_apart)
     order by s.lease_expiry limit p_room)
    union all
    select s.stream_id, s.partition_number, s.lease_expiry from unnest(p_changed) s
    where {stream_is_expired} and s.stream_id <> all(p_gone)
    order by lease_expiry, stream_id
    limit p_room
  ) e;
  if p_lane = 'inbox' then
    v_waiting := wh_would_wait(c, p_lane, p_room - cardinality(r.expired), v_capped_to, p_changed, p_gone, p_only);
  end if;
  v_rest := p_room - cardinality(r.expired) - cardinality(v_waiting.stream_ids);
  v_is_ranked := exists (select from unnest(p_changed) x where x.priority is not null) or not p_only and exists (
    select from wh_active_streams s where s.lane = p_lane and s.priority is not null and s.instance_id is null and s.waits_for is null);
  if v_is_ranked then
    v_high := wh_would_lock_ranked(c, p_lane, 1, {LargestInt}, v_rest, v_spare, p_spare, v_instances, v_rank, v_aged, v_capped_to, p_free_from, p_changed, p_gone, p_only);
    v_rest := v_rest - cardinality(v_high.stream_ids);
    v_spare := greatest(v_spare - cardinality(v_high.stream_ids), 0);
  end if;
  -- First those of any partition, as many as the caller could begin at once, then those of its own.
  for v_turn in 1..2 loop
    select array_agg(f.stream_id), array_agg(f.partition_number) into v_own, v_own_partitions
    from (
      (select s.stream_id, s.partition_number, s.available_at from wh_active_streams s
       where {stream_is_due} and not p_only and s.stream_id <> all(v_apart) and (v_turn = 1 or {stream_is_due_to_owner})
       order by s.available_at limit v_rest)
      union all
      (select s.stream_id, s.partition_number, s.available_at from wh_active_streams s
       where {stream_is_ripe} and s.priority is null and not p_only and s.stream_id <> all(v_apart || v_free)
         and (v_turn = 1 and v_spare > 0 or s.partition_number % v_instances = v_rank or s.available_at <= v_aged)
       order by s.available_at limit v_rest)
      union all
      select s.stream_id, s.partition_number, s.available_at from unnest(p_changed) s
      where ({stream_is_due} and (v_turn = 1 or {stream_is_due_to_owner})
             or {stream_is_ripe} and s.priority is null
               and (v_turn = 1 and v_spare > 0 or s.partition_number % v_instances = v_rank or s.available_at <= v_aged))
        and s.stream_id <> all(p_gone || v_free)
      order by available_at, stream_id
      limit case when v_turn = 2 then v_rest - v_spare when v_spare > 0 then least(v_spare, v_rest) else v_rest end
    ) f;
    v_free := v_free || v_own;
    v_free_partitions := v_free_partitions || v_own_partitions;
    exit when not (v_spare > 0 and v_rest > v_spare and cardinality(v_free) = v_spare);
  end loop;
  if v_is_ranked then
    v_low := wh_would_lock_ranked(c, p_lane, -{LargestInt} - 1, -1, v_rest - cardinality(v_free), greatest(v_spare - cardinality(v_free), 0), p_spare, v_instances,
      v_rank, v_aged, v_capped_to, p_free_from, p_changed, p_gone, p_only);
  end if;
  r.stream_ids := r.expired || v_waiting.stream_ids || v_high.stream_ids || v_free || v_low.stream_ids;
  r.limited := v_waiting.limited;
  r.limits := v_waiting.limits;
  if c.max_partitions is not null then
    v_partitions := v_partitions || v_waiting.partitions || v_high.partitions || v_free_partitions || v_low.partitions;
    p_wanted := v_partitions;
    v_capped_to := {partitions_within_cap};
    r.stream_ids := array(
      select d.stream_id from unnest(r.stream_ids, v_partitions) with ordinality as d(stream_id, partition_number, place)
      where d.partition_number = any(v_capped_to)
      order by d.place);
    r.expired := array(select unnest(r.expired) intersect select unnest(r.stream_ids));
  end if;
  return r;
end
$$;
