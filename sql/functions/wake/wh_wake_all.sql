-- Tells all workers that sleep, those that are covered too, when this transaction commits: for what the one that keeps the
-- watch may not be able to take. Who could not be told, as nobody sleeps, does not fall asleep before this transaction ends.
-- Locks: the advisory locks ('WBW1', schema), shared, and ('WBW2', schema), exclusive, each if it can be had at once.
create or replace function wh_wake_all()
returns void
language plpgsql
as $$
begin
  if pg_try_advisory_xact_lock_shared({WatchLock}, hashtext(current_schema())) then
    if pg_try_advisory_xact_lock({SleepLock}, hashtext(current_schema())) then
      return;
    end if;
  end if;
  perform pg_notify(wh_channel(), 'all');
end
$$;
