-- Runs after a plain insert: notifies the session that keeps the watch, if there is one, when the inserting transaction
-- commits.
-- The lock tells whether a worker sleeps: a sleeper holds it exclusively. A transaction that gets it shared need not
-- notify, and no worker can fall asleep until its rows are visible. A transaction that does not get it notifies.
-- (A sleeper that inserts in its own session gets the lock and is not notified: it is awake.)
-- Inside a call of this schema it does nothing: the call itself notifies, and only if it leaves something to others.
-- It runs with the rights of whoever inserts and needs none. So it sets no search_path, and its names carry their
-- schema.
-- These conditions take half the time here that they take in a `when` of the trigger: 4 instead of 8 µs a statement in
-- all.
-- Locks: the advisory lock (WatchLock, schema), shared, tried without waiting. Same key and channel as wh_notify_watch.
-- Reads by: no table
-- Raises: none
-- Called by: trigger wh_inbox_wake, trigger wh_outbox_wake
create or replace function wh_wake_sleepers()
returns trigger
language plpgsql
as $$
begin
  if pg_catalog.current_setting('whizbang.in_call', true) is distinct from tg_table_schema
     and not pg_catalog.pg_try_advisory_xact_lock_shared({WatchLock}, pg_catalog.hashtext(tg_table_schema))
  then
    perform pg_catalog.pg_notify(
      pg_catalog.concat('whizbang_', pg_catalog.to_hex(pg_catalog.hashtextextended(tg_table_schema, 0))), '');
  end if;
  return null;
end
$$;
