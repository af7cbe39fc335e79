-- Returns the process ids of the sessions that sleep while another session keeps the watch. They share the advisory
-- lock (SleepLock, schema).
-- Locks: none
-- Reads by: pg_locks.
-- Raises: none
-- Called by: wh_fall_asleep, wh_wake_up
create or replace function wh_sleeping_sessions()
returns int[]
language plpgsql
as $$
begin
  return array(
    select l.pid
    from pg_locks l
    where l.locktype = 'advisory' and l.mode = 'ShareLock' and l.granted
      and l.database = (select d.oid from pg_database d where d.datname = current_database())
      and l.classid = {SleepLock} and l.objid = hashtext(current_schema())::oid and l.objsubid = 2
    order by l.pid
  );
end
$$;
