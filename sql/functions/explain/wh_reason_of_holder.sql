-- Makes the reason of a message whose stream an instance holds.
-- Locks: none
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_reason_of_{lane}
create or replace function wh_reason_of_holder(p_code text, s wh_active_streams, p_before bigint, p_attempts int, p_facts jsonb, p_now timestamptz)
returns wh_reason
language plpgsql stable
as $$
declare
  i wh_service_instances;
  v_heard numeric;
  v_who text;
begin
  select * into i from wh_service_instances x where x.instance_id = s.instance_id;
  v_heard := round(extract(epoch from p_now - i.last_heartbeat_at), 1);
  v_who := coalesce(format('%s (process %s, heard %s s ago)', i.host_name, i.process_id, v_heard), 'an instance that is gone');
  return row(p_code, true,
    case when p_code = 'held' then format('%s has it, attempt %s, with %s of its stream before it.', v_who, p_attempts + 1, p_before)
         else format('%s holds its stream, and %s unfinished before it.', v_who, p_before) end,
    null, s.lease_expiry, p_facts || jsonb_build_object('holder', s.instance_id, 'heard_seconds', v_heard, 'lease_expiry', s.lease_expiry),
    case when v_heard <= coalesce(i.lease_seconds, 15) then 'Wait: it reports, or its lease ends.'
         else 'If it is dead: ' || wh_command('release', 'instance', s.instance_id::text) end)::wh_reason;
end
$$;
