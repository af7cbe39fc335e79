-- Reads the array of new messages of one lane, in array order, the first of equal ids; refuses it whole when
-- a field is bad. Touches no table. Raises WB001.
create or replace function wh_parse_messages(p_field text, p_target text, p_messages jsonb, p_partition_count int)
returns wh_new_message[]
language plpgsql
as $$
declare
  c_shape constant jsonb := jsonb_build_object(
    'message_id', 'uuid!', p_target, 'text!', 'event_type', 'text!', 'event_data', 'json!', 'metadata', 'json',
    'scope', 'json', 'stream_id', 'uuid', 'is_event', 'boolean', 'scheduled_for', 'timestamptz', 'expected_version', 'version');
  c_keys constant text[] := array[p_target, 'message_id', 'event_type', 'event_data', 'metadata', 'scope', 'stream_id',
    'is_event', 'scheduled_for', 'expected_version'];
  v_messages wh_new_message[];
  v_is_bad boolean := false;
  v_ids int;
begin
  begin
    select array_agg((m.ord, m.message_id, coalesce(m.destination, m.handler_name), m.event_type, m.event_data,
                      coalesce(m.metadata, '{}'), m.scope, m.stream_id, coalesce(m.is_event, false), m.scheduled_for,
                      m.expected_version, coalesce(m.stream_id, m.message_id),
                      wh_partition(coalesce(m.stream_id, m.message_id), p_partition_count))::wh_new_message),
           coalesce(bool_or(m.message_id is null or coalesce(m.destination, m.handler_name) is null
                            or m.event_type is null or m.event_data is null or m.expected_version < 0), false),
           count(distinct m.message_id)
    into v_messages, v_is_bad, v_ids
    from rows from (
      jsonb_to_recordset(p_messages) as (
        message_id uuid, destination text, handler_name text, event_type text, event_data jsonb, metadata jsonb,
        scope jsonb, stream_id uuid, is_event boolean, scheduled_for timestamptz, expected_version bigint)
    ) with ordinality as m(message_id, destination, handler_name, event_type, event_data, metadata, scope,
                           stream_id, is_event, scheduled_for, expected_version, ord);
    v_is_bad := v_is_bad
      or (select bool_or(e.value - c_keys <> '{}') from jsonb_array_elements(p_messages) e);
  exception
    when data_exception then v_is_bad := true;
  end;
  if v_is_bad then
    perform wh_refuse_items(p_field, p_messages, c_shape);
  end if;
  if v_ids < cardinality(v_messages) then
    select array_agg(f::wh_new_message order by (f).ord) into v_messages
    from (select distinct on (n.message_id) n::wh_new_message as f from unnest(v_messages) n order by n.message_id, n.ord) firsts;
  end if;
  return coalesce(v_messages, '{}');
end
$$;
