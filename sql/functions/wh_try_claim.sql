-- process_work_batch that only claims from the inbox, or nothing: when somebody is just opening one of the same streams, and keeps it
-- waiting, while it holds what that one may wait for. For wh_process_and_transfer. Locks: as process_work_batch, each waited for briefly.
create or replace function wh_try_claim(
  p_instance_id uuid, p_service_name text, p_host_name text, p_process_id int, p_partition_count int,
  p_max_partitions_per_instance int, p_lease_seconds int, p_stale_threshold_seconds int, p_max_inbox_items int,
  p_takeover_seconds numeric, p_inbox_handlers text[], p_spare_inbox_streams int
)
returns wh_work_item[]
language plpgsql
set search_path from current
set lock_timeout = '50ms'
as $$
begin
  return array(
    select w from process_work_batch(
      p_instance_id => p_instance_id, p_service_name => p_service_name, p_host_name => p_host_name, p_process_id => p_process_id,
      p_partition_count => p_partition_count, p_max_partitions_per_instance => p_max_partitions_per_instance,
      p_lease_seconds => p_lease_seconds, p_stale_threshold_seconds => p_stale_threshold_seconds,
      p_max_outbox_items => 0, p_max_inbox_items => p_max_inbox_items, p_max_perspective_items => 0,
      p_takeover_seconds => p_takeover_seconds, p_inbox_handlers => p_inbox_handlers, p_spare_inbox_streams => p_spare_inbox_streams) w);
exception
  when others then
    return '{}';
end
$$;
