-- Returns the process id of the session that keeps the watch for this schema: the one that holds the advisory lock
-- (WatchLock, schema) exclusively. Null: none does.
-- Locks: none
-- Reads by: pg_locks.
-- Raises: none
-- Called by: wh_fall_asleep, wh_wake_up
create or replace function wh_watch_session()
returns int
language plpgsql
as $$
begin
  return (
    select l.pid
    from pg_locks l
    where l.locktype = 'advisory' and l.mode = 'ExclusiveLock' and l.granted
      and l.database = (select d.oid from pg_database d where d.datname = current_database())
      and l.classid = {WatchLock} and l.objid = hashtext(current_schema())::oid and l.objsubid = 2
    limit 1
  );
end
$$;
