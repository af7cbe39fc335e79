-- Registers the caller and puts together what every step needs to know of the call. The time is taken later.
create or replace function wh_open_call(
  p_instance_id uuid, p_service_name text, p_host_name text, p_process_id int, p_metadata jsonb, p_flags int,
  p_partition_count int, p_max_partitions int, p_lease_seconds int, p_stale_threshold_seconds int, p_takeover_seconds numeric
)
returns wh_call
language plpgsql
as $$
declare
  c wh_call;
begin
  select i.rank, i.instances, i.stale_instances into c.rank, c.instances, c.stale_instances
  from wh_register_instance(p_instance_id, p_service_name, p_host_name, p_process_id, p_metadata, p_partition_count, p_stale_threshold_seconds) i;
  select o.admitted_below, o.free_from, o.leased_from, i.admitted_below, i.free_from, i.leased_from, least(o.moved_at, i.moved_at)
  into c.outbox_floor, c.outbox_free_from, c.outbox_leased_from, c.inbox_floor, c.inbox_free_from, c.inbox_leased_from, c.floors_moved_at
  from wh_lanes o, wh_lanes i
  where o.lane = 'outbox' and i.lane = 'inbox';
  c.instance_id := p_instance_id;
  c.lease_seconds := p_lease_seconds;
  c.keeps_completed := p_flags & 4 <> 0;
  c.partition_count := p_partition_count;
  c.max_partitions := p_max_partitions;
  c.takeover_seconds := p_takeover_seconds;
  return c;
end
$$;
