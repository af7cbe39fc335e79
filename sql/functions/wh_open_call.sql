-- Puts together what every step needs to know of the call, in one look at the instances and the lanes, and has
-- the heartbeat written when it has aged (a second, less under a short stale threshold): a row that is updated in
-- every call leaves a dead version per call to every later reader while an old snapshot is open.
-- A call that neither asks for work nor renews may belong to a handler's long transaction: it neither beats nor
-- moves floors, so it holds no lock on those rows. The time of the call is taken later, by wh_take_time.
create or replace function wh_open_call(
  p_instance_id uuid, p_service_name text, p_host_name text, p_process_id int, p_metadata jsonb, p_flags int,
  p_partition_count int, p_max_partitions int, p_lease_seconds int, p_stale_threshold_seconds int, p_takeover_seconds numeric,
  p_takes_outbox boolean, p_takes_inbox boolean, p_renews boolean
)
returns wh_call
language plpgsql
as $$
declare
  c wh_call;
  v_now timestamptz := clock_timestamp();
  v_stale_before timestamptz := v_now - make_interval(secs => p_stale_threshold_seconds);
  v_beats boolean := p_takes_outbox or p_takes_inbox or p_renews;
  v_last_heartbeat timestamptz;
  v_is_new_taker boolean;
  v_floors_moved_at timestamptz;
begin
  select i.last_heartbeat, i.is_new_taker, i.outbox_rank, i.outbox_others + 1, i.inbox_rank, i.inbox_others + 1, i.stale,
         o.admitted_below, o.free_from, o.leased_from, n.admitted_below, n.free_from, n.leased_from,
         case when oa.until > v_now then greatest(oa.admit_from, o.admitted_below) else o.admitted_below end,
         case when na.until > v_now then greatest(na.admit_from, n.admitted_below) else n.admitted_below end,
         least(o.moved_at, n.moved_at), least(o.swept_at, n.swept_at) < v_now - interval '1 minute'
  into v_last_heartbeat, v_is_new_taker, c.outbox_rank, c.outbox_instances, c.inbox_rank, c.inbox_instances, c.stale_instances,
       c.outbox_floor, c.outbox_free_from, c.outbox_leased_from, c.inbox_floor, c.inbox_free_from, c.inbox_leased_from,
       c.outbox_admit_from, c.inbox_admit_from, v_floors_moved_at, c.sweeps
  from (
    select max(i.last_heartbeat_at) filter (where i.is_caller) as last_heartbeat,
           bool_or(p_takes_outbox and not i.takes_outbox or p_takes_inbox and not i.takes_inbox) filter (where i.is_caller) as is_new_taker,
           count(*) filter (where i.is_alive and i.takes_outbox and i.instance_id < p_instance_id) as outbox_rank,
           count(*) filter (where i.is_alive and i.takes_outbox) as outbox_others,
           count(*) filter (where i.is_alive and i.takes_inbox and i.instance_id < p_instance_id) as inbox_rank,
           count(*) filter (where i.is_alive and i.takes_inbox) as inbox_others,
           count(*) filter (where not i.is_alive and not i.is_caller) as stale
    from (
      select i.instance_id, i.last_heartbeat_at, i.takes_outbox, i.takes_inbox, i.instance_id = p_instance_id as is_caller,
        i.last_heartbeat_at >= v_stale_before and i.instance_id <> p_instance_id as is_alive
      from wh_service_instances i
    ) i
  ) i, wh_lanes o, wh_lanes n, wh_admission oa, wh_admission na
  where o.lane = 'outbox' and n.lane = 'inbox' and oa.lane = 'outbox' and na.lane = 'inbox';
  -- For wh_move_floors: as far as these notes reach, whoever writes with a later transaction id writes above them.
  if v_beats and v_floors_moved_at < v_now - interval '250 milliseconds' and pg_current_xact_id_if_assigned() is null then
    select v_now, o.last_value, n.last_value into c.noted_at, c.outbox_noted, c.inbox_noted
    from wh_outbox_sequence_order_seq o, wh_inbox_sequence_order_seq n;
  end if;
  if v_last_heartbeat is null or v_is_new_taker
     or v_beats and v_last_heartbeat < v_now - make_interval(secs => least(1.0, p_stale_threshold_seconds / 4.0))
  then
    perform wh_beat(v_last_heartbeat is not null, p_instance_id, p_service_name, p_host_name, p_process_id, p_metadata,
      p_partition_count, p_stale_threshold_seconds, p_takes_outbox, p_takes_inbox);
  end if;
  c.instance_id := p_instance_id;
  c.lease_seconds := p_lease_seconds;
  c.keeps_completed := p_flags & 4 <> 0;
  c.partition_count := p_partition_count;
  c.max_partitions := p_max_partitions;
  c.takeover_seconds := least(p_takeover_seconds, 315360000);
  return c;
end
$$;
