-- Removes the instances whose heartbeat is older than the threshold and frees their work.
-- The caller is never removed. Locks: instance rows, then stream rows, all skip locked.
create or replace function wh_remove_stale_instances(p_instance_id uuid, p_stale_threshold_seconds int)
returns void
language plpgsql
as $$
declare
  v_removed uuid[];
begin
  with stale as (
    select i.instance_id
    from wh_service_instances i
    where i.last_heartbeat_at < clock_timestamp() - make_interval(secs => p_stale_threshold_seconds)
      and i.instance_id <> p_instance_id
    order by i.instance_id
    for update skip locked
  ), removed as (
    delete from wh_service_instances i using stale where i.instance_id = stale.instance_id
    returning i.instance_id
  )
  select array_agg(r.instance_id) into v_removed from removed r;
  if v_removed is not null then
    perform wh_release_instances(v_removed);
  end if;
end
$$;
