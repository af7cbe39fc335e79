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
    v_slept := pg_advisory_unlock({WatchLock}, hashtext(current_schema()));
  end if;
  if pg_backend_pid() = any(wh_covered()) then
    v_slept := pg_advisory_unlock_shared({SleepLock}, hashtext(current_schema()));
  end if;
  return v_slept;
end
$$;
