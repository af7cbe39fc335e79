-- Reads the array of new messages of one lane, in array order, and keeps the first of equal ids. A bad field refuses
-- the whole array.
-- A delay is counted from here, by the database's clock.
-- The result says whether any message is an event, is scheduled, has a condition or a priority, or arrived out of
-- order, so that most calls skip those steps.
-- Locks: none
-- Reads by: no table
-- Raises: WB001
-- Called by: wh_move_schedule, wh_read_request, wh_send, wh_set_timers, wh_settle_one
create or replace function wh_parse_messages(p_field text, p_target text, p_messages jsonb, p_partition_count int)
returns wh_parsed
language plpgsql
as $$
declare
  r wh_parsed := row('{}', false, false, false, false, false);
  c_keys constant text[] := array['message_id', p_target, 'event_type', 'event_data', 'metadata', 'stream_id', 'scope',
    'is_event', 'scheduled_for', 'delay_seconds', 'expected_version', 'priority']
    || case when p_target = 'destination' then array['only_with'] else array['arrived_after'] end;
  v_is_bad boolean;
  v_ids int;
begin
  begin
    select array_agg((m.ord, m.message_id, coalesce(m.destination, m.handler_name), m.event_type, m.event_data,
                      coalesce(m.metadata, '{}'), m.scope, m.stream_id, coalesce(m.is_event, false),
                      case when m.delay_seconds is null then m.scheduled_for
                           else clock_timestamp() + make_interval(secs => least(greatest(m.delay_seconds, 0), {TenYears})) end,
                      m.expected_version, coalesce(m.stream_id, m.message_id),
                      wh_partition(coalesce(m.stream_id, m.message_id), p_partition_count), m.only_with,
                      nullif(m.priority, 0), m.arrived_after)::wh_new_message),
           bool_or(m.message_id is null or coalesce(m.destination, m.handler_name) is null or m.event_type is null
                   or m.event_data is null or m.expected_version < 0 or m.item - c_keys <> '{}'
                   or jsonb_typeof(m.item -> 'event_type') <> 'string' or jsonb_typeof(m.item -> p_target) <> 'string'
                   or m.is_event is not null and jsonb_typeof(m.item -> 'is_event') <> 'boolean'
                   or m.delay_seconds is not null and jsonb_typeof(m.item -> 'delay_seconds') <> 'number'
                   or m.expected_version is not null and jsonb_typeof(m.item -> 'expected_version') <> 'number'
                   or m.priority is not null and jsonb_typeof(m.item -> 'priority') <> 'number'),
           count(distinct m.message_id),
           coalesce(bool_or(m.is_event and m.stream_id is not null), false),
           coalesce(bool_or(m.scheduled_for is not null or m.delay_seconds is not null), false),
           coalesce(bool_or(m.only_with is not null), false),
           coalesce(bool_or(m.priority <> 0), false),
           coalesce(bool_or(m.arrived_after is not null), false)
    into r.messages, v_is_bad, v_ids, r.has_events, r.has_scheduled, r.has_conditions, r.has_ranked, r.has_late
    from rows from (
      jsonb_to_recordset(p_messages) as (
        message_id uuid, destination text, handler_name text, event_type text, event_data jsonb, metadata jsonb,
        scope jsonb, stream_id uuid, is_event boolean, scheduled_for timestamptz, delay_seconds double precision,
        expected_version bigint, only_with uuid, priority int, arrived_after uuid),
      jsonb_array_elements(p_messages)
    ) with ordinality as m(message_id, destination, handler_name, event_type, event_data, metadata, scope,
                           stream_id, is_event, scheduled_for, delay_seconds, expected_version, only_with, priority, arrived_after,
                           item, ord);
  exception
    when data_exception then v_is_bad := true;
  end;
  if v_is_bad then
    perform wh_refuse_items(p_field, p_messages, jsonb_build_object(
      'message_id', 'uuid!', p_target, 'text!', 'event_type', 'text!', 'event_data', 'json!', 'metadata', 'json',
      'scope', 'json', 'stream_id', 'uuid', 'is_event', 'boolean', 'scheduled_for', 'timestamptz', 'delay_seconds', 'number', 'expected_version', 'version',
      'priority', 'int')
      || case when p_target = 'destination' then jsonb_build_object('only_with', 'uuid') else jsonb_build_object('arrived_after', 'uuid') end);
  end if;
  r.messages := coalesce(r.messages, '{}');
  if v_ids < cardinality(r.messages) then
    r.messages := array(
      select f.message from (
        select distinct on (n.message_id) n.ord, n::wh_new_message as message from unnest(r.messages) n order by n.message_id, n.ord
      ) f order by f.ord);
  end if;
  return r;
end
$$;
