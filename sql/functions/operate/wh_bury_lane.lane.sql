-- Moves an unfinished message of this lane to wh_dead_letters, whoever has it. Returns how it was: {lane, type,
-- stream_id, attempts, held_by, due_at, reason}. Null: the lane does not have it.
-- Claims change messages only under the lock of their stream, so this takes it too (wh_seize_stream). If the message
-- was the first of its stream, the stream becomes due for the next one, or its row is deleted.
-- Its caller has a transaction id by then (see wh_stamp_call).
-- Locks: the stream row, or a new one; it waits for a call that has it or makes it. Then the message row, and a new row
--   of wh_dead_letters.
-- Reads by: primary key; messages by wh_{lane}_stream.
-- Raises: WB001 for an event that is not in the event store yet.
-- Called by: wh_give_up
create or replace function wh_bury_{lane}(p_message_id uuid, p_reason text)
returns jsonb
language plpgsql
as $$
declare
  v_stream_id uuid;
  v_order bigint;
  v_is_unappended boolean;
  v_before jsonb;
begin
  select m.stream_key, m.sequence_order into v_stream_id, v_order
  from wh_{lane} m
  where m.message_id = p_message_id and m.processed_at is null and m.status <> {Bar};
  if not found then
    return null;
  end if;
  perform wh_seize_stream('{lane}', v_stream_id, v_order);
  -- Under the lock: what it was a moment ago may have changed.
  select {is_unappended} into v_is_unappended from wh_{lane} m where m.message_id = p_message_id and m.processed_at is null;
  if v_is_unappended then
    perform wh_refuse('p_message_id', 'is an event that is not in the event store yet');
  end if;
  with dead as (
    delete from wh_{lane} m where m.message_id = p_message_id and m.processed_at is null returning m.*
  ), buried as (
    insert into wh_dead_letters (source, message_id, destination, event_type, event_data, metadata, scope, stream_id,
      partition_number, is_event, status, flags, sequence_order, attempts, error, stored_at, died_at, instance_id, failures)
    select '{lane}', d.message_id, d.{target}, d.event_type, d.event_data, d.metadata, d.scope, d.stream_id,
      d.partition_number, d.is_event, d.status | {Failed}, d.flags, d.sequence_order, d.attempts,
      concat_ws(e'\n', 'An operator gave it up' || coalesce(': ' || p_reason, ''), d.error), d.{stored_at}, clock_timestamp(), d.instance_id, d.failures
    from dead d
  )
  select jsonb_strip_nulls(jsonb_build_object('lane', '{lane}', 'type', d.event_type, 'stream_id', d.stream_id, 'attempts', d.attempts,
      'held_by', case when d.lease_expiry > clock_timestamp() then d.instance_id end, 'due_at', d.scheduled_for, 'reason', p_reason))
  into v_before
  from dead d;
  if not exists (
    select from wh_{lane} m where m.stream_key = v_stream_id and m.sequence_order < v_order and m.processed_at is null
  ) then
    perform wh_settle_{lane}(wh_roomless_call(null), array[v_stream_id], false);
  end if;
  return v_before;
end
$$;
