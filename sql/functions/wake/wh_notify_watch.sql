-- Notifies the session that keeps the watch, if there is one, when this transaction commits. For calls that leave
-- something to others.
-- However often a transaction calls it, PostgreSQL sends one notification.
-- wh_wake_sleepers does the same after plain inserts, and explains why a lock tells whether a worker sleeps.
-- Locks: the advisory lock (WatchLock, schema), shared, tried without waiting.
-- Reads by: no table
-- Raises: none
-- Called by: deregister_instance, process_work_batch, wh_admit_{lane}, wh_fold_again, wh_insert_events,
--   wh_settle_{lane}
create or replace function wh_notify_watch()
returns void
language plpgsql
as $$
begin
  if not pg_try_advisory_xact_lock_shared({WatchLock}, hashtext(current_schema())) then
    perform pg_notify(wh_channel(), '');
  end if;
end
$$;
