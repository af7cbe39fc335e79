-- Appends events to the event store in the caller's transaction, at any isolation level. Nothing is sent, and only
-- perspectives are notified. Returns the receipts in array order: [{event_id, stream_id, version, sequence_number}].
-- All are appended or none. An event that is in the store already gets the receipt of the first time: a call whose
-- answer was lost may be made again.
-- Locks: rows of wh_event_streams, by stream_id, new ones before existing ones, waiting; new event rows.
-- Reads by: primary key.
-- Raises: WB001, WB002, serialization_failure
-- Called by: event-functions.ts, kit-perspective.ts
create or replace function wh_append(p_events jsonb)
returns json
language plpgsql security definer
set search_path from current
-- One plan, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set jit = off set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_new wh_new_events := wh_parse_events(p_events);
  v_ids uuid[] := v_new.event_ids;
  v_locked wh_stream_version[];
  v_known uuid[];
  v_versions bigint[];
  v_numbers bigint[];
begin
  if v_ids is null then
    return '[]';
  end if;
  v_locked := wh_lock_versions('{}', array(select distinct u from unnest(v_new.stream_ids) u order by u));
  -- Read behind the lock: what was appended to these streams until then is seen.
  v_known := array(select s.event_id from wh_events s where s.event_id = any(v_ids));
  if v_known <> '{}' then
    v_new := wh_parse_events((
      select jsonb_agg(e.value order by e.ordinality) from jsonb_array_elements(p_events) with ordinality e
      where (e.value ->> 'message_id')::uuid <> all(v_known)));
  end if;
  if v_new.event_ids is not null then
    v_versions := wh_number_events(v_locked, v_new);
    v_numbers := wh_insert_events(v_new, v_versions);
  end if;
  if v_known <> '{}' then
    return wh_receipts(v_ids);
  end if;
  return (
    select json_agg(r order by r.sequence_number)
    from unnest(v_ids, v_new.stream_ids, v_versions, v_numbers) as r(event_id, stream_id, version, sequence_number));
end
$$;
