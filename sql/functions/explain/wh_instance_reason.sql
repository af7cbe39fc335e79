-- Makes the row of an instance: whether it could take the message now, or why not.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: wh_explain_instances_{lane}
create or replace function wh_instance_reason(p_lane text, i wh_service_instances, p_code text, p_now timestamptz)
returns wh_reason
language plpgsql stable
as $$
declare
  v_room int := case p_lane when 'outbox' then i.outbox_room else i.inbox_room end;
begin
  return row(p_code, p_code <> 'claimable-now',
    format('%s (process %s, heard %s s ago, room %s) %s', i.host_name, i.process_id, round(extract(epoch from p_now - i.last_heartbeat_at), 1), coalesce(v_room, 0),
      case when p_code = 'claimable-now' then 'could take it now' else 'would not take it now: ' || p_code end),
    i.last_call_at, null,
    jsonb_build_object('instance_id', i.instance_id, 'can_take', p_code = 'claimable-now', 'host', i.host_name, 'process_id', i.process_id,
      'room', v_room, 'spare', case p_lane when 'outbox' then i.outbox_spare else i.inbox_spare end,
      'takeover_seconds', i.takeover_seconds, 'max_partitions', i.max_partitions, 'last_heartbeat_at', i.last_heartbeat_at, 'last_call_at', i.last_call_at),
    null)::wh_reason;
end
$$;
