-- Returns the schedules of the service, by name.
-- Locks: none
-- Reads by: primary key.
-- Raises: none
-- Called by: schedule-functions.ts
create or replace function wh_list_schedules()
returns setof wh_schedules
language plpgsql security definer stable
set search_path from current
as $$
begin
  return query select s.* from wh_schedules s order by s.name;
end
$$;
