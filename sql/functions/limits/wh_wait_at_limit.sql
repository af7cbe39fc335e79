-- Notes the limit, with its key, at which a message waits that its instance is about to give back. The next claim
-- leaves the stream of the message there (wh_claim_{lane}), until an instance asks for this name.
-- Returns whether the instance held the message.
-- Locks: the message row; it waits for a call that reports on it.
-- Reads by: primary key.
-- Raises: none
-- Called by: limit-functions.ts, wh_enter_limit
create or replace function wh_wait_at_limit(p_instance_id uuid, p_message_id uuid, p_waits_at text)
returns boolean
language plpgsql security definer
set search_path from current
as $$
begin
  update wh_inbox m
  set waits_at = p_waits_at
  where m.message_id = p_message_id and m.instance_id = p_instance_id;
  return found;
end
$$;
