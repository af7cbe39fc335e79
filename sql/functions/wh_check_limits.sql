-- Refuses a call whose scalar parameters are missing or out of bounds, or whose transaction is not READ
-- COMMITTED: the steps rely on a new snapshot per statement (a stream is locked, then looked at).
-- Touches no table. Raises WB001, WB003.
create or replace function wh_check_limits(
  p_instance_id uuid, p_service_name text, p_host_name text, p_process_id int,
  p_flags int, p_partition_count int, p_max_partitions_per_instance int,
  p_lease_seconds int, p_stale_threshold_seconds int,
  p_max_outbox_items int, p_max_inbox_items int, p_max_perspective_items int, p_takeover_seconds numeric
)
returns void
language plpgsql
as $$
declare
  v_field text;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception using
      errcode = 'WB003',
      message = format('process_work_batch: called in a %s transaction', current_setting('transaction_isolation')),
      hint = 'Call it in a READ COMMITTED transaction. To send from a transaction of another level, insert into wh_outbox.';
  end if;
  v_field := case
    when p_instance_id is null then 'p_instance_id'
    when p_service_name is null then 'p_service_name'
    when p_host_name is null then 'p_host_name'
    when p_process_id is null then 'p_process_id'
    when p_flags is null then 'p_flags'
    when p_partition_count is null then 'p_partition_count'
    when p_lease_seconds is null then 'p_lease_seconds'
    when p_stale_threshold_seconds is null then 'p_stale_threshold_seconds'
    when p_max_outbox_items is null then 'p_max_outbox_items'
    when p_max_inbox_items is null then 'p_max_inbox_items'
    when p_max_perspective_items is null then 'p_max_perspective_items'
    when p_takeover_seconds is null then 'p_takeover_seconds'
  end;
  if v_field is not null then
    perform wh_refuse(v_field, 'is null, a value is needed');
  end if;
  if p_service_name = '' then perform wh_refuse('p_service_name', 'is empty'); end if;
  if p_flags < 0 then perform wh_refuse('p_flags', format('is %s, it must not be negative', p_flags)); end if;
  if p_partition_count < 1 then perform wh_refuse('p_partition_count', format('is %s, it must be at least 1', p_partition_count)); end if;
  if p_max_partitions_per_instance < 1 then perform wh_refuse('p_max_partitions_per_instance', format('is %s, it must be at least 1, or null for no cap', p_max_partitions_per_instance)); end if;
  if p_lease_seconds < 1 then perform wh_refuse('p_lease_seconds', format('is %s, it must be at least 1', p_lease_seconds)); end if;
  if p_stale_threshold_seconds < 1 then perform wh_refuse('p_stale_threshold_seconds', format('is %s, it must be at least 1', p_stale_threshold_seconds)); end if;
  if p_max_outbox_items < 0 then perform wh_refuse('p_max_outbox_items', format('is %s, it must not be negative', p_max_outbox_items)); end if;
  if p_max_inbox_items < 0 then perform wh_refuse('p_max_inbox_items', format('is %s, it must not be negative', p_max_inbox_items)); end if;
  if p_max_perspective_items < 0 then perform wh_refuse('p_max_perspective_items', format('is %s, it must not be negative', p_max_perspective_items)); end if;
  if p_takeover_seconds < 0 or p_takeover_seconds = 'NaN' then perform wh_refuse('p_takeover_seconds', format('is %s, it must not be negative', p_takeover_seconds)); end if;
end
$$;
