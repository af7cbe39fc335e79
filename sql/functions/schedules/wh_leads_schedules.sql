-- Notes the plan of an instance, and returns whether it leads: no other plan of an instance that is alive was seen for
-- the first time after it. So a newer deploy takes over with its first instance, and an older instance that restarts
-- meanwhile takes nothing back.
-- Locks: the row of the instance and a new row of the plan, if they are not noted yet; it waits.
-- Reads by: primary key; all instances.
-- Raises: none
-- Called by: wh_keep_schedules, wh_look_at_schedules, wh_move_schedule
create or replace function wh_leads_schedules(p_instance_id uuid, p_plan text)
returns boolean
language plpgsql
as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  insert into wh_schedule_plans (plan)
  select p_plan where not exists (select from wh_schedule_plans p where p.plan = p_plan)
  on conflict do nothing;
  if found then
    delete from wh_schedule_plans p
    where p.first_seen_at < v_now - interval '90 days'
      and not exists (select from wh_service_instances i where i.schedule_plan = p.plan);
  end if;
  update wh_service_instances i set schedule_plan = p_plan
  where i.instance_id = p_instance_id and i.schedule_plan is distinct from p_plan;
  return p_plan is not distinct from (
    select p.plan
    from wh_service_instances i
    join wh_schedule_plans p on p.plan = i.schedule_plan
    where i.instance_id = p_instance_id
      or i.last_heartbeat_at > v_now - make_interval(secs => i.stale_threshold_seconds)
    order by p.first_seen_at desc, p.plan
    limit 1);
end
$$;
