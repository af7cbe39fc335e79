-- Reads the array of events to append, in array order, and keeps the first of equal ids. A bad field refuses the whole
-- array.
-- [{message_id, event_type, event_data, metadata?, scope?, stream_id, expected_version?}]. As a new message of the
-- outbox, an event may have a destination, which is not used, and is_event, which has to be true.
-- Locks: none
-- Reads by: no table
-- Raises: WB001
-- Called by: wh_append
create or replace function wh_parse_events(p_events jsonb)
returns wh_new_events
language plpgsql
as $$
declare
  c_keys constant text[] := array['message_id', 'destination', 'event_type', 'event_data', 'metadata', 'stream_id', 'scope', 'is_event', 'expected_version'];
  r wh_new_events;
  v_is_bad boolean;
begin
  begin
    select array_agg(m.message_id), array_agg(m.stream_id), array_agg(m.event_type), array_agg(m.event_data),
           array_agg(coalesce(m.metadata, '{}')), array_agg(m.scope), array_agg(m.expected_version),
           bool_or(m.message_id is null or m.stream_id is null or m.event_type is null or m.event_data is null
                   or m.expected_version < 0 or m.item - c_keys <> '{}' or not m.is_event
                   or jsonb_typeof(m.item -> 'event_type') <> 'string'
                   or m.is_event and jsonb_typeof(m.item -> 'is_event') <> 'boolean'
                   or m.expected_version is not null and jsonb_typeof(m.item -> 'expected_version') <> 'number')
    into r.event_ids, r.stream_ids, r.event_types, r.event_data, r.metadata, r.scopes, r.expected_versions, v_is_bad
    from (
      select * from rows from (
        jsonb_to_recordset(p_events) as (
          message_id uuid, event_type text, event_data jsonb, metadata jsonb, scope jsonb, stream_id uuid, is_event boolean, expected_version bigint),
        jsonb_array_elements(p_events)
      ) with ordinality as i(message_id, event_type, event_data, metadata, scope, stream_id, is_event, expected_version, item, ord)
      order by i.ord
    ) m;
  exception
    when data_exception then v_is_bad := true;
  end;
  if v_is_bad then
    perform wh_refuse_items('p_events', p_events, jsonb_build_object(
      'message_id', 'uuid!', 'destination', 'json', 'event_type', 'text!', 'event_data', 'json!', 'metadata', 'json',
      'scope', 'json', 'stream_id', 'uuid!', 'is_event', 'true', 'expected_version', 'version'));
  end if;
  if cardinality(r.event_ids) > 1 and cardinality(r.event_ids) > (select count(distinct u) from unnest(r.event_ids) u) then
    return wh_parse_events((
      select jsonb_agg(f.value order by f.ordinality) from (
        select distinct on ((e.value ->> 'message_id')::uuid) e.value, e.ordinality
        from jsonb_array_elements(p_events) with ordinality e
        order by (e.value ->> 'message_id')::uuid, e.ordinality
      ) f));
  end if;
  return r;
end
$$;
