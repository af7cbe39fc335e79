-- Removes finished messages that DebugMode has kept and whose ids are to be stored again.
-- Locks: the message rows; nothing else changes a finished one.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_store
create or replace function wh_forget_finished_{lane}(p_messages wh_new_message[])
returns void
language plpgsql
as $$
begin
  delete from wh_{lane} m
  where m.message_id = any(array(select n.message_id from unnest(p_messages) n)) and m.processed_at is not null;
end
$$;
