-- Tells an instance the time of the database, whether its plan leads, and what there is of the schedules, as JSON.
-- Times are milliseconds since 1970.
-- {now, leads, schedules: [{name, cron, time_zone, catch_up, next_at, last_at}]}
-- Locks: as wh_leads_schedules.
-- Reads by: all schedules.
-- Raises: none
-- Called by: schedule-functions.ts
create or replace function wh_look_at_schedules(p_instance_id uuid, p_plan text)
returns jsonb
language plpgsql security definer
set search_path from current
as $$
declare
  v_leads boolean := wh_leads_schedules(p_instance_id, p_plan);
begin
  return jsonb_build_object(
    'leads', v_leads,
    'schedules', coalesce((
      select jsonb_agg(jsonb_build_object('name', s.name, 'cron', s.cron, 'time_zone', s.time_zone, 'catch_up', s.catch_up,
        'next_at', round(extract(epoch from s.next_at) * 1000), 'last_at', round(extract(epoch from s.last_at) * 1000)) order by s.name)
      from wh_schedules s), '[]'),
    'now', floor(extract(epoch from clock_timestamp()) * 1000));
end
$$;
