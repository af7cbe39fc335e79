-- A worker asks, on the session that listens to wh_channel(), to be notified from now on. Returns one of:
-- 'asleep': the session keeps the watch and is notified of everything that is stored. What is not notified was
-- committed before, so it looks once more and then may wait.
-- 'covered': another session keeps the watch. It also looks once more. It is notified, by the number of its session,
-- when the watch is passed on.
-- 'busy': no session sleeps, because a transaction that has stored something is open and will not notify. Try again
-- soon.
-- 'passed': only with p_is_able false, that is, the worker has something that it cannot begin at once. Another session
-- keeps the watch or is notified to take it. If there is no other session, this one sleeps all the same.
-- The locks last until wh_wake_up or the end of the session. If it is called twice, they are taken once.
-- Locks: the advisory lock (WatchLock, schema), exclusive, or (SleepLock, schema), shared; each is tried without
--   waiting.
-- Reads by: pg_locks.
-- Raises: none
-- Called by: functions.ts
create or replace function wh_fall_asleep(p_is_able boolean default true)
returns text
language plpgsql security definer
set search_path from current
as $$
declare
  v_watch int := wh_watch_session();
  v_me int := pg_backend_pid();
  v_covered int[] := wh_sleeping_sessions();
  v_other int;
begin
  if not p_is_able then
    v_other := (select c from unnest(v_covered) c where c <> v_me order by random() limit 1);
    if v_watch <> v_me or v_other is not null then
      if v_me = any(v_covered) then
        perform pg_advisory_unlock_shared({SleepLock}, hashtext(current_schema()));
      end if;
      if v_watch is null or v_watch = v_me then
        perform pg_notify(wh_channel(), v_other::text);
        perform pg_advisory_unlock({WatchLock}, hashtext(current_schema())) where v_watch = v_me;
      end if;
      return 'passed';
    end if;
  end if;
  if v_watch = v_me or pg_try_advisory_lock({WatchLock}, hashtext(current_schema())) then
    if v_me = any(v_covered) then
      perform pg_advisory_unlock_shared({SleepLock}, hashtext(current_schema()));
    end if;
    return 'asleep';
  end if;
  if wh_watch_session() is null then
    return 'busy';
  end if;
  if not p_is_able or v_me = any(v_covered) or pg_try_advisory_lock_shared({SleepLock}, hashtext(current_schema())) then
    return 'covered';
  end if;
  return 'busy';
end
$$;
