-- Appends the events among these messages to the event store, in the order of their streams.
-- Plainly inserted events come first, then the events that this call stores. Of each kind, the inbox comes before the
-- outbox: while something of a stream waits in the outbox, nothing that this schema sends to itself goes to the inbox
-- (wh_route).
-- The version rows are locked by the call, so versions neither collide nor skip.
-- An event whose id is in the store already (a repeated call, an event that came back) is not appended again.
-- Returns the ids of the arrivals that are appended now.
-- Locks: as wh_insert_events.
-- Reads by: messages and events by primary key.
-- Raises: WB002 if a stream is not at the expected version, serialization_failure as wh_insert_events.
-- Called by: wh_take_few_{lane}, wh_try_store
create or replace function wh_append_events(
  p_versions wh_stream_version[], p_outbox wh_new_message[], p_inbox wh_new_message[],
  p_outbox_arrivals wh_arrival[], p_inbox_arrivals wh_arrival[]
)
returns uuid[]
language plpgsql
-- Nested loops over the arrays of a batch would be quadratic; see docs/internals/mechanism.md#plans-that-hold
set enable_nestloop = off
as $$
declare
  v_outbox_ids uuid[] := array(select a.message_id from unnest(p_outbox_arrivals) a where a.appends);
  v_inbox_ids uuid[] := array(select a.message_id from unnest(p_inbox_arrivals) a where a.appends);
  v_ids uuid[];
  v_known uuid[];
  v_new wh_new_events;
begin
  v_ids := v_outbox_ids || v_inbox_ids
    || array(select n.message_id from unnest(p_outbox || p_inbox) n where n.is_event and n.stream_id is not null);
  v_known := array(select s.event_id from wh_event_store s where s.event_id = any(v_ids));
  -- Who archives nothing pays nothing for it.
  if exists (select from wh_event_archive a where a.sequence_number > 0) then
    v_known := v_known || array(select a.event_id from wh_event_archive a where a.event_id = any(v_ids));
  end if;
  with event as (
    select 1 as kind, m.sequence_order as place, m.message_id, m.stream_id, m.event_type, m.event_data, m.metadata, m.scope, null::bigint as expected_version
    from wh_outbox m where m.message_id = any(v_outbox_ids)
    union all
    select 0, m.sequence_order, m.message_id, m.stream_id, m.event_type, m.event_data, m.metadata, m.scope, null
    from wh_inbox m where m.message_id = any(v_inbox_ids)
    union all
    select 3, n.ord, n.message_id, n.stream_id, n.event_type, n.event_data, n.metadata, n.scope, n.expected_version
    from unnest(p_outbox) n where n.is_event and n.stream_id is not null
    union all
    select 2, n.ord, n.message_id, n.stream_id, n.event_type, n.event_data, n.metadata, n.scope, n.expected_version
    from unnest(p_inbox) n where n.is_event and n.stream_id is not null
  ), fresh as (
    select distinct on (e.message_id) e.* from event e where e.message_id <> all(v_known) order by e.message_id, e.kind
  ), sorted as (
    select f.* from fresh f join unnest(p_versions) v on v.stream_id = f.stream_id order by f.kind, f.place
  )
  select array_agg(s.message_id), array_agg(s.stream_id), array_agg(s.event_type), array_agg(s.event_data),
         array_agg(s.metadata), array_agg(s.scope), array_agg(s.expected_version)
  into v_new from sorted s;
  if v_new.event_ids is not null then
    perform wh_insert_events(v_new, wh_number_events(p_versions, v_new));
  end if;
  return v_outbox_ids || v_inbox_ids;
end
$$;
