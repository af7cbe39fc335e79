-- Counts that the process which ran this inbox message died or stalled, apart from its attempts. Returns the count, or
-- null if the message is gone.
-- The runtime asks before it runs such a message again: a message that kills its process would otherwise do so for
-- ever. The count is kept with the message and goes with it.
-- Locks: the message row; it waits for a call that reports on it, while it holds nothing else.
-- Reads by: primary key.
-- Raises: none
-- Called by: functions.ts
create or replace function wh_count_interruption(p_message_id uuid)
returns int
language sql security definer
set search_path from current
as $$
  update wh_inbox m
  set interruptions = coalesce(m.interruptions, 0) + 1
  where m.message_id = p_message_id
  returning m.interruptions
$$;
