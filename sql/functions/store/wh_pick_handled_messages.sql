-- Returns the new inbox messages of those streams in which the caller has a handler for every message. It could not run
-- the others, so it must not hold them.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: wh_try_store
create or replace function wh_pick_handled_messages(c wh_call, p_messages wh_new_message[])
returns wh_new_message[]
language plpgsql immutable
as $$
declare
  v_others uuid[] := array(select m.stream_key from unnest(p_messages) m where m.target <> all(c.inbox_handlers));
begin
  if v_others = '{}' then
    return p_messages;
  end if;
  return array(select m::wh_new_message from unnest(p_messages) m where m.stream_key <> all(v_others) order by m.ord);
end
$$;
