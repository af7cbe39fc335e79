-- Registers the instance, or writes its heartbeat. It never waits: if another call of the same instance is doing it,
-- that is enough for both.
-- An instance that was removed as stale and comes back still works for the service that it had joined
-- (wh_join_service). Its subscriptions show that; they stay until another instance starts.
-- Locks: its own row, skip locked; for the first registration an advisory lock, tried without waiting.
-- Reads by: primary key; for the first registration all rows of wh_subscriptions.
-- Raises: none
-- Called by: wh_open_call
create or replace function wh_beat(
  p_is_registered boolean, p_instance_id uuid, p_service_name text, p_host_name text, p_process_id int, p_metadata jsonb,
  p_partition_count int, p_stale_threshold_seconds int, p_takes_outbox boolean, p_takes_inbox boolean
)
returns void
language plpgsql
as $$
begin
  if p_is_registered then
    update wh_service_instances i
    set last_heartbeat_at = clock_timestamp(), service_name = p_service_name, host_name = p_host_name, process_id = p_process_id,
        metadata = coalesce(p_metadata, i.metadata), partition_count = p_partition_count,
        stale_threshold_seconds = p_stale_threshold_seconds,
        takes_outbox = i.takes_outbox or p_takes_outbox, takes_inbox = i.takes_inbox or p_takes_inbox
    where i.instance_id = (
      select o.instance_id from wh_service_instances o where o.instance_id = p_instance_id for no key update skip locked
    );
  elsif pg_try_advisory_xact_lock(hashtext('wh_service_instances'), hashtext(p_instance_id::text)) then
    insert into wh_service_instances
      (instance_id, service_name, host_name, process_id, metadata, partition_count, stale_threshold_seconds,
       takes_outbox, takes_inbox, has_joined)
    values (p_instance_id, p_service_name, p_host_name, p_process_id, p_metadata, p_partition_count, p_stale_threshold_seconds,
      p_takes_outbox, p_takes_inbox,
      exists (select from wh_subscriptions s where s.instance_id = p_instance_id and s.subscribed_at > '-infinity'))
    on conflict do nothing;
  end if;
end
$$;
