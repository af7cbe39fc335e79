-- Returns the name of the channel on which the workers of this schema listen. Every schema has another one; it needs no
-- quotes.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: functions.ts, passing-time.ts, wh_fall_asleep, wh_meet_request, wh_notify_all, wh_notify_watch,
--   wh_retry_now, wh_set_timers
create or replace function wh_channel()
returns text
language sql stable
set search_path from current
as $$
  select 'whizbang_' || to_hex(hashtextextended(current_schema(), 0))
$$;
