-- Registers the instance or renews its heartbeat, and tells its rank among the living ones.
-- The heartbeat is written only when it has aged (a second, less under a short stale threshold): a row that
-- is updated in every call leaves a dead version per call for every later reader while an old snapshot is open.
-- Locks: its own row, skip locked, so a concurrent call of the same instance is never waited for.
create or replace function wh_register_instance(
  p_instance_id uuid, p_service_name text, p_host_name text, p_process_id int, p_metadata jsonb,
  p_partition_count int, p_stale_threshold_seconds int,
  out rank int, out instances int, out stale_instances int
)
language plpgsql
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_stale_before timestamptz := v_now - make_interval(secs => p_stale_threshold_seconds);
  v_due_before timestamptz := v_now - make_interval(secs => least(1.0, p_stale_threshold_seconds / 4.0));
  v_last_heartbeat timestamptz;
begin
  select max(i.last_heartbeat_at) filter (where i.instance_id = p_instance_id),
         count(*) filter (where i.last_heartbeat_at >= v_stale_before and i.instance_id < p_instance_id),
         count(*) filter (where i.last_heartbeat_at >= v_stale_before and i.instance_id <> p_instance_id) + 1,
         count(*) filter (where i.last_heartbeat_at < v_stale_before and i.instance_id <> p_instance_id)
  into v_last_heartbeat, rank, instances, stale_instances
  from wh_service_instances i;
  if v_last_heartbeat is null then
    insert into wh_service_instances
      (instance_id, service_name, host_name, process_id, metadata, partition_count, stale_threshold_seconds)
    values (p_instance_id, p_service_name, p_host_name, p_process_id, p_metadata, p_partition_count, p_stale_threshold_seconds)
    on conflict do nothing;
  elsif v_last_heartbeat < v_due_before then
    update wh_service_instances i
    set last_heartbeat_at = v_now, service_name = p_service_name, host_name = p_host_name, process_id = p_process_id,
        metadata = coalesce(p_metadata, i.metadata), partition_count = p_partition_count,
        stale_threshold_seconds = p_stale_threshold_seconds
    where i.instance_id = (
      select o.instance_id from wh_service_instances o where o.instance_id = p_instance_id for no key update skip locked
    );
  end if;
end
$$;
