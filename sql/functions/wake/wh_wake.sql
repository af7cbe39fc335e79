-- Tells the worker that keeps the watch, if one sleeps, when this transaction commits: for calls that leave something to others. However
-- often it is called in a transaction, PostgreSQL sends one notification.
-- Why a lock answers whether anybody sleeps is told in wh_wake_sleepers, which does the same after plain inserts.
-- Locks: the advisory lock ('WBW1', schema), shared, if it can be had at once.
create or replace function wh_wake()
returns void
language plpgsql
as $$
begin
  if not pg_try_advisory_xact_lock_shared({WatchLock}, hashtext(current_schema())) then
    perform pg_notify(wh_channel(), '');
  end if;
end
$$;
