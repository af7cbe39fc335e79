-- The process id of the session that keeps the watch for this schema, or null: the one that holds its advisory lock exclusively.
create or replace function wh_sleeper()
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
