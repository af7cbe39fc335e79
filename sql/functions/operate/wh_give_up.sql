-- Gives up a message that is not finished: it becomes a dead letter, and its stream goes on. If an instance has it,
-- what that reports later is refused. Returns false if no lane has it.
-- It does not call onGivenUp of a receptor: that is done by instances, and none may be able to.
-- Locks: as wh_bury_{lane}.
-- Reads by: primary key.
-- Raises: WB001 for an event that is not in the event store yet.
-- Called by: action-functions.ts
create or replace function wh_give_up(p_message_id uuid, p_reason text default null, p_who text default null)
returns boolean
language plpgsql security definer
set search_path from current
as $$
declare
  v_before jsonb;
begin
  -- Before it reads the clock; see wh_stamp_call.
  perform pg_current_xact_id();
  v_before := coalesce(wh_bury_inbox(p_message_id, p_reason), wh_bury_outbox(p_message_id, p_reason));
  if v_before is null then
    return false;
  end if;
  perform wh_note_operation(p_who, 'give-up', 'message ' || p_message_id, v_before);
  return true;
end
$$;
