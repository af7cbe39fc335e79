-- Ends the sleep of this session: others need not notify it any more. Returns false if it did not sleep.
-- Locks: none; it releases the session's advisory locks.
-- Reads by: pg_locks.
-- Raises: none
-- Called by: functions.ts
create or replace function wh_wake_up()
returns boolean
language plpgsql security definer
set search_path from current
as $$
declare
  v_slept boolean := false;
begin
  if wh_watch_session() = pg_backend_pid() then
    v_slept := pg_advisory_unlock({WatchLock}, hashtext(current_schema()));
  end if;
  if pg_backend_pid() = any(wh_sleeping_sessions()) then
    v_slept := pg_advisory_unlock_shared({SleepLock}, hashtext(current_schema()));
  end if;
  return v_slept;
end
$$;
