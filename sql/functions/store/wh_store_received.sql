-- Stores the messages whose ids are new in the inbox, unadmitted. Returns how many. One try of wh_receive, wh_send or
-- wh_store_aside.
-- Locks: as wh_deduplicate, then new message rows; it waits for a call that stores the same id.
-- Reads by: primary key.
-- Raises: unique_violation if that call commits (the callers try again).
-- Called by: wh_receive, wh_send, wh_store_aside
create or replace function wh_store_received(p_messages wh_new_message[])
returns int
language plpgsql
-- Nested loops over the arrays of a batch would be quadratic; see docs/internals/mechanism.md#plans-that-hold
set enable_nestloop = off
as $$
declare
  v_new wh_new_message[] := wh_deduplicate(array(
    select f.message from (
      select distinct on (m.message_id) m.ord, m::wh_new_message as message from unnest(p_messages) m order by m.message_id, m.ord
    ) f order by f.ord));
  v_present uuid[] := array(
    select m.message_id from wh_inbox m where m.message_id = any(array(select n.message_id from unnest(v_new) n)));
  v_stored int;
begin
  insert into wh_inbox (message_id, handler_name, event_type, event_data, metadata, scope, stream_id, is_event, scheduled_for, priority)
  select n.message_id, n.target, n.event_type, n.event_data, n.metadata, n.scope, n.stream_id, n.is_event, n.scheduled_for, n.priority
  from unnest(v_new) n
  where n.message_id <> all(v_present)
  order by n.ord;
  get diagnostics v_stored = row_count;
  return v_stored;
end
$$;
