-- Separates the new outbox messages that need not go through the outbox: what only this schema listens to goes straight
-- to its inbox (own, with the name of its handler).
-- Nothing is overtaken: a message leaves by the outbox if something of its stream waits there, or goes there before it
-- in the same array.
-- p_received: the messages that the call stores in the inbox anyway; they come first.
-- Locks: none
-- Reads by: as wh_heard_only_here and wh_waiting_in_outbox.
-- Raises: none
-- Called by: process_work_batch, wh_send, wh_settle_one
create or replace function wh_route(p_messages wh_new_message[], p_received wh_new_message[])
returns wh_routed
language plpgsql
-- Nested loops over the arrays of a batch would be quadratic; see docs/internals/mechanism.md#plans-that-hold
set enable_nestloop = off
as $$
declare
  v_addresses text[] := wh_heard_only_here(array(select distinct m.target from unnest(p_messages) m));
  v_waiting uuid[];
  v_received uuid[] := array(select x.message_id from unnest(p_received) x);
  v_last int := coalesce((select max(x.ord) from unnest(p_received) x), 0);
  r wh_routed;
begin
  if v_addresses = '{}' then
    return row(p_received, p_messages)::wh_routed;
  end if;
  v_waiting := wh_waiting_in_outbox(array(select distinct m.stream_id from unnest(p_messages) m where m.stream_id is not null));
  if p_received = '{}' and not exists (select from unnest(p_messages) m where m.target <> all(v_addresses) or m.stream_key = any(v_waiting)) then
    -- Mostly nothing leaves, and this takes half the time.
    return row(array(
      select (m.ord, m.message_id, m.event_type, m.event_type, m.event_data, m.metadata, m.scope, m.stream_id, m.is_event,
        m.scheduled_for, m.expected_version, m.stream_key, m.partition_number, null, m.priority, null)::wh_new_message
      from unnest(p_messages) m order by m.ord), '{}')::wh_routed;
  end if;
  -- The messages are numbered again: the room is counted by these numbers.
  select
    array_agg((n.place + v_last, n.message_id, n.event_type, n.event_type, n.event_data, n.metadata, n.scope, n.stream_id, n.is_event,
      n.scheduled_for, n.expected_version, n.stream_key, n.partition_number, null, n.priority, null)::wh_new_message order by n.place) filter (where not n.leaves),
    array_agg((n.place, n.message_id, n.target, n.event_type, n.event_data, n.metadata, n.scope, n.stream_id, n.is_event,
      n.scheduled_for, n.expected_version, n.stream_key, n.partition_number, null, n.priority, null)::wh_new_message order by n.place) filter (where n.leaves)
  into r.own, r.leaving
  from (
    select l.*, row_number() over (partition by l.leaves order by l.ord) as place
    from (
      select m.*, m.message_id = any(v_received) as is_received, bool_or(m.target <> all(v_addresses) or m.stream_key = any(v_waiting)) over (partition by m.stream_key order by m.ord) as leaves
      from unnest(p_messages) m
    ) l
    where l.leaves or not l.is_received
  ) n;
  return row(p_received || coalesce(r.own, '{}'), coalesce(r.leaving, '{}'))::wh_routed;
end
$$;
