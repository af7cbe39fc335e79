-- Returns the last failure of an inbox message: {error, seconds_ago}. Null if the message is gone.
-- The runtime asks before it calls onGivenUp: what was thrown may have been thrown in another process.
-- Locks: none
-- Reads by: primary key.
-- Raises: none
-- Called by: functions.ts
create or replace function wh_last_failure(p_message_id uuid)
returns jsonb
language sql stable security definer
set search_path from current
as $$
  select jsonb_build_object(
    'error', coalesce(m.error, ''),
    'seconds_ago', coalesce(extract(epoch from clock_timestamp() - (m.failures -> -1 ->> 'at')::timestamptz), 0))
  from wh_inbox m
  where m.message_id = p_message_id
$$;
