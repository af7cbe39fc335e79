-- Takes from a call what is paused: handlers, and the limits of their receptors. So the messages of a paused type look
-- like those that the caller has no handler for. If the intake is paused, nothing of the inbox counts as arrived or
-- due.
-- A caller that names no handlers has all that unfinished messages need: then it reads which those are.
-- Locks: none
-- Reads by: no table; for a caller that names no handlers, the whole inbox.
-- Raises: none
-- Called by: process_work_batch, wh_poll_of
create or replace function wh_without_paused(c wh_call)
returns wh_call
language plpgsql stable
as $$
begin
  if '' = any(c.paused) then
    c.inbox_arrived := false;
    c.inbox_due := false;
    return c;
  end if;
  if c.inbox_handlers is null then
    c.inbox_handlers := array(select distinct m.handler_name from wh_inbox m where m.processed_at is null);
  end if;
  c.inbox_handlers := array(select h.name from unnest(c.inbox_handlers) as h(name) where h.name <> all(c.paused));
  if c.inbox_limits is not null then
    select coalesce(array_agg(l.name), '{}'), coalesce(array_agg(l.room), '{}')
    into c.inbox_limits, c.inbox_limit_rooms
    from unnest(c.inbox_limits, c.inbox_limit_rooms) as l(name, room)
    -- A limit with a key is named after the handler, U+001F, and the key.
    where split_part(l.name, chr(31), 1) <> all(c.paused);
  end if;
  return c;
end
$$;
