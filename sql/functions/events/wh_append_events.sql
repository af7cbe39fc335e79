-- Appends the events among these messages to the event store, in the order of their streams.
-- Plainly inserted events come first, then the events that this call stores. Of each kind, the inbox comes before the
-- outbox: while something of a stream waits in the outbox, nothing that this schema sends to itself goes to the inbox
-- (wh_route).
-- The version rows are locked by the call, so versions neither collide nor skip.
-- An event whose id is in the store already (a repeated call, an event that came back) is not appended again.
-- Returns the ids of the arrivals that are appended now.
-- Locks: new event rows, in stream order; it waits for a call that appends the same event id under another stream.
-- Reads by: messages and events by primary key.
-- Raises: WB002 if a stream is not at the expected version, serialization_failure if another transaction has just
--   appended the same event id to another stream.
-- Called by: wh_append, wh_try_store
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
  v_stream_ids uuid[];
  v_versions bigint[];
  v_stream_id uuid;
  v_expected bigint;
  v_actual bigint;
  v_is_whole boolean;
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
  ), numbered as (
    select f.*, v.version + row_number() over (partition by f.stream_id order by f.kind, f.place) as version
    from fresh f
    join unnest(p_versions) v on v.stream_id = f.stream_id
  ), appended as (
    insert into wh_event_store (event_id, stream_id, version, event_type, aggregate_type, event_data, metadata, scope)
    select n.message_id, n.stream_id, n.version, n.event_type, coalesce(n.metadata ->> 'aggregateType', wh_aggregate_type(n.event_type)), n.event_data, n.metadata, n.scope
    from numbered n
    order by n.kind, n.place
    on conflict (event_id) do nothing
    returning stream_id, version
  ), risen as (
    select a.stream_id, max(a.version) as version from appended a group by a.stream_id
  ), mismatch as (
    select n.stream_id, n.expected_version, n.version - 1 as actual_version
    from numbered n
    where n.expected_version <> n.version - 1
    order by n.kind, n.place
    limit 1
  )
  select (select array_agg(r.stream_id) from risen r), (select array_agg(r.version) from risen r),
         (select x.stream_id from mismatch x), (select x.expected_version from mismatch x), (select x.actual_version from mismatch x),
         (select count(*) from appended) = (select count(*) from numbered)
  into v_stream_ids, v_versions, v_stream_id, v_expected, v_actual, v_is_whole;

  if v_expected is not null then
    perform wh_refuse_version(v_stream_id, v_expected, v_actual);
  end if;
  if not v_is_whole then
    raise exception using
      errcode = 'serialization_failure',
      message = 'another transaction has appended an event with the same id to another stream',
      hint = 'Run the transaction again: the event is known then.';
  end if;
  perform wh_set_versions(v_stream_ids, v_versions);
  return v_outbox_ids || v_inbox_ids;
end
$$;
