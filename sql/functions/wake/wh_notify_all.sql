-- Notifies all sessions that sleep, the covered ones too, when this transaction commits. For messages that the session
-- with the watch may be unable to run.
-- If no session sleeps, none falls asleep before this transaction ends.
-- Locks: the advisory locks (WatchLock, schema), shared, and (SleepLock, schema), exclusive; each is tried without
--   waiting.
-- Reads by: no table
-- Raises: none
-- Called by: wh_claim_all_{lane}, wh_rebuild_perspective, wh_release_instance, wh_release_stream, wh_reset_perspective,
--   wh_resume, wh_retry_held, wh_retry_now, wh_skip_held, wh_store_streams, wh_want_build
create or replace function wh_notify_all()
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
