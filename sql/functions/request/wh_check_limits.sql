-- Refuses a call with scalar parameters that are missing or out of bounds, or in a transaction that is not READ
-- COMMITTED: the steps rely on a new snapshot per statement (a stream is locked, then looked at).
-- Returns true, so that it can be called by an assignment (see docs/internals/mechanism.md#plans-that-hold).
-- Locks: none
-- Reads by: no table
-- Raises: WB001, WB003
-- Called by: process_work_batch
create or replace function wh_check_limits(
  p_instance_id uuid, p_service_name text, p_host_name text, p_process_id int,
  p_flags int, p_partition_count int, p_max_partitions_per_instance int,
  p_lease_seconds int, p_stale_threshold_seconds int,
  p_max_outbox_items int, p_max_inbox_items int, p_max_perspective_items int, p_takeover_seconds numeric,
  p_spare_outbox_streams int, p_spare_inbox_streams int
)
returns boolean
language plpgsql
as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception using
      errcode = 'WB003',
      message = format('process_work_batch was called in a %s transaction', current_setting('transaction_isolation')),
      hint = 'Call it in a READ COMMITTED transaction. To send from a transaction of another level, insert into wh_outbox.';
  end if;
  -- One expression for the good case. Which field is bad is found out only if one is.
  if (p_service_name <> '' and p_flags >= 0 and p_partition_count >= 1 and p_lease_seconds >= 1 and p_stale_threshold_seconds >= 1
      and p_max_outbox_items >= 0 and p_max_inbox_items >= 0 and p_max_perspective_items >= 0
      and p_takeover_seconds >= 0 and p_takeover_seconds <> 'NaN' and p_spare_outbox_streams >= 0 and p_spare_inbox_streams >= 0) is not true
     or p_instance_id is null or p_host_name is null or p_process_id is null or p_max_partitions_per_instance < 1
  then
    perform wh_refuse_limits(jsonb_build_object(
      'p_instance_id', p_instance_id, 'p_service_name', p_service_name, 'p_host_name', p_host_name, 'p_process_id', p_process_id,
      'p_flags', p_flags, 'p_partition_count', p_partition_count, 'p_lease_seconds', p_lease_seconds,
      'p_stale_threshold_seconds', p_stale_threshold_seconds, 'p_max_outbox_items', p_max_outbox_items,
      'p_max_inbox_items', p_max_inbox_items, 'p_max_perspective_items', p_max_perspective_items,
      'p_takeover_seconds', p_takeover_seconds,
      'p_spare_outbox_streams', p_spare_outbox_streams, 'p_spare_inbox_streams', p_spare_inbox_streams), p_max_partitions_per_instance);
  end if;
  return true;
end
$$;
