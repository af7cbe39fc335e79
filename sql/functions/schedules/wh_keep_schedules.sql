-- Deletes the schedules that are not in the caller's plan, if that leads. Returns how many.
-- Locks: as wh_leads_schedules; rows of schedules, waiting for who moves them.
-- Reads by: all schedules.
-- Raises: none
-- Called by: schedule-functions.ts
create or replace function wh_keep_schedules(p_instance_id uuid, p_plan text, p_names text[])
returns int
language plpgsql security definer
set search_path from current
as $$
declare
  v_deleted int := 0;
begin
  if wh_leads_schedules(p_instance_id, p_plan) then
    delete from wh_schedules s where s.name <> all(p_names);
    get diagnostics v_deleted = row_count;
  end if;
  return v_deleted;
end
$$;
