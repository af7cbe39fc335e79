-- Returns those of these outbox messages that the instance holds, in order, in the shape that wh_receive takes.
-- For wh_transfer, which runs with the rights of its caller and so cannot read the table itself.
-- Locks: none
-- Reads by: primary key.
-- Raises: WB001
-- Called by: wh_transfer, wh_transfer_each
create or replace function wh_outgoing(p_instance_id uuid, p_message_ids uuid[])
returns jsonb
language plpgsql security definer
set search_path from current
-- One plan, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set jit = off set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_message_ids uuid[] := wh_check_ids('p_message_ids', p_message_ids);
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
        'message_id', m.message_id, 'destination', m.destination, 'event_type', m.event_type, 'event_data', m.event_data,
        'metadata', m.metadata, 'scope', m.scope, 'stream_id', m.stream_id, 'is_event', m.is_event, 'priority', m.priority) order by m.sequence_order), '[]')
    from wh_outbox m
    where m.message_id = any(v_message_ids) and m.instance_id = p_instance_id
  );
end
$$;
