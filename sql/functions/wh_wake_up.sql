-- The worker that sleeps on this session is awake: others need not notify it any more. False: it did not sleep.
create or replace function wh_wake_up()
returns boolean
language plpgsql security definer
set search_path from current
as $$
declare
  v_slept boolean := false;
begin
  if wh_sleeper() = pg_backend_pid() then
    v_slept := pg_advisory_unlock(1463965489, hashtext(current_schema()));
  end if;
  if pg_backend_pid() = any(wh_covered()) then
    v_slept := pg_advisory_unlock_shared(1463965490, hashtext(current_schema()));
  end if;
  return v_slept;
end
$$;
