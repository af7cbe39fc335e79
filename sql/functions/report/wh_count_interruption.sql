-- Counts that whoever ran this inbox message died or stalled, apart from its attempts, and returns how often that was.
-- Asked before such a message is run again: one that kills its process would otherwise do so for ever. The count is kept with the
-- message and goes with it. Null: it is not there any more.
-- Locks: its row, waiting for a call that reports on it, while holding nothing. Reads by primary key.
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
