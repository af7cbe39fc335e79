-- Appends events to the event store in the caller's transaction, at any isolation level. Nobody is notified, and
-- nothing is sent. Returns the receipts in array order: [{event_id, stream_id, version, sequence_number}].
-- All are appended or none. An event that is in the store already gets the receipt of the first time: a call whose
-- answer was lost may be made again.
-- [{message_id, destination, event_type, event_data, metadata?, scope?, stream_id, is_event, expected_version?}], as
-- new messages of the outbox; the destination is not used.
-- Locks: rows of wh_event_streams, by stream_id, new ones before existing ones, waiting; new event rows.
-- Reads by: primary key.
-- Raises: WB001, WB002, serialization_failure
-- Called by: event-functions.ts, kit-perspective.ts
create or replace function wh_append(p_events jsonb)
returns jsonb
language plpgsql security definer
set search_path from current
-- One plan, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set jit = off set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_events wh_new_message[] := (wh_parse_messages('p_events', 'destination', p_events, 1)).messages;
  v_fault record;
  v_versions wh_stream_version[];
begin
  select e.ord - 1 as place, case when e.stream_id is null then 'stream_id' else 'is_event' end as field into v_fault
  from unnest(v_events) e where e.stream_id is null or not e.is_event limit 1;
  if v_fault is not null then
    perform wh_refuse(format('p_events[%s].%s', v_fault.place, v_fault.field), 'is needed: only an event of a stream is appended');
  end if;
  v_versions := wh_lock_versions('{}', array(select distinct e.stream_id from unnest(v_events) e order by e.stream_id));
  perform wh_append_events(v_versions, v_events, '{}', '{}', '{}');
  return coalesce((
    select jsonb_agg(jsonb_build_object('event_id', s.event_id, 'stream_id', s.stream_id, 'version', s.version, 'sequence_number', s.sequence_number) order by e.ord)
    from unnest(v_events) e
    cross join lateral (select * from wh_event_store x where x.event_id = e.message_id limit 1) s), '[]');
end
$$;
