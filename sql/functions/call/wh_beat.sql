-- Registers the instance, or writes its heartbeat. It never waits: if another call of the same instance is doing it,
-- that is enough for both.
-- An instance that was removed as stale and comes back still works for the service that it had joined
-- (wh_join_service). Its subscriptions show that; they stay until another instance starts.
-- Locks: its own row, skip locked; for the first registration an advisory lock, tried without waiting.
-- Reads by: primary key; for the first registration all rows of wh_subscriptions.
-- Raises: none
-- Called by: wh_open_call
create or replace function wh_beat(
  c wh_call, p_is_registered boolean, p_service_name text, p_host_name text, p_process_id int, p_metadata jsonb, p_facts jsonb,
  p_stale_threshold_seconds int, p_outbox_room int, p_inbox_room int, p_inbox_limits jsonb
)
returns void
language plpgsql
as $$
declare
  -- One that only renews says nothing of what it could take.
  v_asks boolean := p_outbox_room > 0 or p_inbox_room > 0;
begin
  if not p_is_registered then
    if not pg_try_advisory_xact_lock(hashtext('wh_service_instances'), hashtext(c.instance_id::text)) then
      return;
    end if;
    insert into wh_service_instances (instance_id, service_name, host_name, process_id, takes_outbox, takes_inbox, has_joined)
    values (c.instance_id, p_service_name, p_host_name, p_process_id, false, false,
      exists (select from wh_subscriptions s where s.instance_id = c.instance_id and s.subscribed_at > '-infinity'))
    on conflict do nothing;
  end if;
  update wh_service_instances i
  set last_heartbeat_at = clock_timestamp(), service_name = p_service_name, host_name = p_host_name, process_id = p_process_id,
      metadata = coalesce(p_metadata, i.metadata), facts = coalesce(p_facts, i.facts), partition_count = c.partition_count,
      stale_threshold_seconds = p_stale_threshold_seconds, lease_seconds = c.lease_seconds,
      takes_outbox = i.takes_outbox or p_outbox_room > 0, takes_inbox = i.takes_inbox or p_inbox_room > 0,
      last_call_at = case when v_asks then c.opened_at else i.last_call_at end,
      inbox_handlers = case when v_asks then c.inbox_handlers else i.inbox_handlers end,
      inbox_limits = case when v_asks then p_inbox_limits else i.inbox_limits end,
      outbox_room = case when v_asks then p_outbox_room else i.outbox_room end,
      inbox_room = case when v_asks then p_inbox_room else i.inbox_room end,
      outbox_spare = case when v_asks then c.outbox_spare else i.outbox_spare end,
      inbox_spare = case when v_asks then c.inbox_spare else i.inbox_spare end,
      max_partitions = case when v_asks then c.max_partitions else i.max_partitions end,
      takeover_seconds = case when v_asks then c.takeover_seconds else i.takeover_seconds end
  where i.instance_id = (
    select o.instance_id from wh_service_instances o where o.instance_id = c.instance_id for no key update skip locked
  );
end
$$;
