-- Removes instances whose heartbeat is older than the threshold and frees their work, so that this call can claim it
-- already.
-- An instance with a stream that another transaction has locked is kept for the next call. The caller is never removed.
-- What they have asked for is forgotten.
-- Locks: instance rows, then stream rows, all skip locked; then requests of those instances.
-- Reads by: all instances; streams by wh_active_streams_leased; requests by wh_requests_instance.
-- Raises: none
-- Called by: process_work_batch
create or replace function wh_remove_stale_instances(c wh_call, p_stale_threshold_seconds int)
returns void
language plpgsql
as $$
declare
  v_stale uuid[] := array(
    select i.instance_id
    from wh_service_instances i
    where i.last_heartbeat_at < clock_timestamp() - make_interval(secs => p_stale_threshold_seconds)
      and i.instance_id <> c.instance_id
    order by i.instance_id
    for update skip locked
  );
begin
  if v_stale = '{}' then
    return;
  end if;
  perform wh_release_instances(v_stale, c.now);
  delete from wh_requests r where r.instance_id = any(v_stale);
  delete from wh_service_instances i
  where i.instance_id = any(v_stale)
    and not exists (
      select 1 from wh_active_streams s
      where s.lane = any(array['outbox', 'inbox']) and s.instance_id is not null and s.instance_id = i.instance_id
    );
end
$$;
