-- Returns the other instances that say they run on this machine, with their processes.
-- Locks: none
-- Reads by: all instances.
-- Raises: none
-- Called by: local-functions.ts
create or replace function wh_local_instances(p_instance_id uuid, p_machine text)
returns table (instance_id uuid, process_id int)
language sql stable security definer
set search_path from current
as $$
  select i.instance_id, i.process_id
  from wh_service_instances i
  where i.instance_id <> p_instance_id and i.facts ->> 'machine' = p_machine
  order by i.instance_id
  limit 1000
$$;
