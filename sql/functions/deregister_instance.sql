-- Removes an instance that stops: frees every stream that it holds and deletes its row.
-- Returns the number of freed streams. If there are any, one sleeping worker is notified to claim them.
-- Call it when no other call of the instance is in flight.
-- The subscriptions of the instance stay until another instance subscribes.
-- Locks: stream rows of the instance, outbox before inbox, by stream_id; it waits, so that no stream is left behind.
--   Then its bookmarks, the instance row and its requests and subscription rows.
-- Reads by: streams by wh_active_streams_leased; the instance by primary key; all rows of wh_subscriptions and of
--   wh_perspective_bookmarks.
-- Raises: WB001
-- Called by: functions.ts
create or replace function deregister_instance(p_instance_id uuid)
returns int
language plpgsql security definer
set search_path from current
-- One plan, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set jit = off set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_freed int;
begin
  if p_instance_id is null then
    perform wh_refuse('p_instance_id', 'is null, a value is needed');
  end if;
  perform 1
  from wh_active_streams s
  where s.lane = any(array['outbox', 'inbox']) and s.instance_id is not null and s.instance_id = p_instance_id
  order by s.lane desc, s.stream_id
  for no key update;
  update wh_perspective_bookmarks b set instance_id = null, lease_expiry = null where b.instance_id = p_instance_id;
  v_freed := wh_release_instances(array[p_instance_id], clock_timestamp());
  delete from wh_service_instances where instance_id = p_instance_id;
  delete from wh_requests r where r.instance_id = p_instance_id;
  update wh_subscriptions set subscribed_at = '-infinity' where instance_id = p_instance_id and subscribed_at > '-infinity';
  if v_freed > 0 then
    perform wh_notify_watch();
  end if;
  return v_freed;
end
$$;
