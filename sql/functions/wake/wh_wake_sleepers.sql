-- After a plain insert: tells the worker that keeps the watch, if one sleeps, when the inserting transaction commits.
-- The lock is the answer to "does anybody sleep?": a sleeper holds it exclusively. Who gets it shared needs to tell
-- nobody, and keeps everybody from falling asleep until its rows can be seen; who does not get it notifies.
-- (A sleeper that inserts in its own session gets the lock and is not told: it is awake.)
-- Inside a call of this schema it does nothing: the call wakes by itself, only when it leaves something to others.
-- Runs with the rights of whoever inserts and needs none; so no search_path is set, and names say their schema.
-- Asking here takes half the time that the same questions in a `when` of the trigger do: 4 against 8 µs a statement in all.
-- Locks: the advisory lock ('WBW1', schema), shared, if it can be had at once. The same key and channel as in wh_wake.
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
