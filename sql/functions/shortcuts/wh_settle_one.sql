-- The short path of process_work_batch for a handler's own transaction that is about to commit. Such a call reports one
-- message as done; besides, it only says which receptor did it and which outbox messages it sends.
-- Returns true if everything is done. Returns false, with nothing changed, if it is not such a call or the caller does
-- not hold the message.
-- What it stores stays unadmitted. The insert itself notifies a sleeping worker (wh_wake_sleepers).
-- Locks: the stream row, receptor rows, then as wh_store, in this order, like the long path; it waits.
-- Reads by: as the functions that it calls.
-- Raises: WB001, WB002, serialization_failure
-- Called by: process_work_batch
create or replace function wh_settle_one(
  p_instance_id uuid, p_outbox_completions jsonb, p_inbox_completions jsonb, p_receptor_completions jsonb, p_new_outbox_messages jsonb,
  p_flags int, p_partition_count int, p_lease_seconds int
)
returns boolean
language plpgsql
as $$
declare
  c_inbox constant boolean := p_outbox_completions is null;
  v_one wh_completion := wh_parse_one_completion(case when c_inbox then p_inbox_completions else p_outbox_completions end);
  v_new wh_parsed;
  v_routed wh_routed := row('{}', '{}');
  v_done wh_finished;
begin
  if c_inbox and wh_is_done_inbox(0, v_one.status) is not true or not c_inbox and wh_is_done_outbox(0, v_one.status) is not true then
    return false;
  end if;
  if p_new_outbox_messages is not null then
    v_new := wh_parse_messages('p_new_outbox_messages', 'destination', p_new_outbox_messages, p_partition_count);
  end if;
  if v_new.has_conditions then
    return false;
  end if;
  perform wh_end_if_stalled(p_lease_seconds);
  v_done := case when c_inbox then wh_finish_one_inbox(p_instance_id, v_one.message_ids[1], v_one.status, {history_of_flags})
                 else wh_finish_one_outbox(p_instance_id, v_one.message_ids[1], v_one.status, {history_of_flags}) end;
  if v_done.orders is null then
    return false;
  end if;
  if p_receptor_completions is not null then
    perform wh_record_receptors(clock_timestamp(), p_receptor_completions, null, '{}');
  end if;
  if v_new.messages <> '{}' then
    v_routed := case when p_flags & {Direct} <> 0 then wh_route(v_new.messages, '{}') else row('{}', v_new.messages)::wh_routed end;
  end if;
  if v_new.has_events then
    perform wh_store(wh_roomless_call(p_instance_id), v_routed.leaving, v_routed.own, '{}', '{}', '{}', '{}', 0, 0, true, v_new.has_scheduled);
  elsif v_new.messages <> '{}' then
    perform wh_store_aside(p_instance_id, v_routed);
  end if;
  if c_inbox and not wh_settle_stream_inbox(p_instance_id, v_done.stream_ids[1], v_done.orders) then
    perform wh_settle_inbox(wh_roomless_call(p_instance_id), v_done.stream_ids, false, row(null, null, v_done, null)::wh_reported);
  elsif not c_inbox and not wh_settle_stream_outbox(p_instance_id, v_done.stream_ids[1], v_done.orders) then
    perform wh_settle_outbox(wh_roomless_call(p_instance_id), v_done.stream_ids, false, row(null, null, v_done, null)::wh_reported);
  end if;
  return true;
end
$$;
