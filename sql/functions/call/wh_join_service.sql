-- Lets a registered instance begin to publish and handle for its service.
-- A schema has one service: two would take each other's messages out of one inbox. So it refuses while an instance of
-- another service has joined and is alive: its heartbeat is within both thresholds and it has not deregistered. A
-- service can be renamed once its old instances are gone. An instance that only sends does not join.
-- Locks: an advisory lock, waiting: instances join one after the other, so the second of two that start at once sees
--   the first. Then the instance's row.
-- Reads by: primary key; all instances.
-- Raises: WB001, WB005
-- Called by: functions.ts
create or replace function wh_join_service(p_instance_id uuid)
returns void
language plpgsql security definer
set search_path from current
as $$
declare
  v_me wh_service_instances;
  v_other wh_service_instances;
begin
  if p_instance_id is null then
    perform wh_refuse('p_instance_id', 'is null, a value is needed');
  end if;
  perform pg_advisory_xact_lock(hashtext('wh_join_service'), hashtext(current_schema()));
  update wh_service_instances i set has_joined = true where i.instance_id = p_instance_id returning i.* into v_me;
  if not found then
    perform wh_refuse('p_instance_id', 'is not registered');
  end if;
  select * into v_other
  from wh_service_instances i
  where i.has_joined and i.service_name <> v_me.service_name
    and i.last_heartbeat_at >= clock_timestamp() - make_interval(secs => least(i.stale_threshold_seconds, v_me.stale_threshold_seconds))
  order by i.instance_id
  limit 1;
  if found then
    raise exception using
      errcode = 'WB005',
      message = format('the schema %I belongs to the service %s, which runs on %s as process %s, and %s cannot start in it',
        current_schema(), to_json(v_other.service_name), v_other.host_name, v_other.process_id, to_json(v_me.service_name)),
      hint = 'Give each service a schema of its own. Nothing was changed.';
  end if;
end
$$;
