-- Takes back a message that has not begun: a timer, or a message of the outbox or the inbox that no instance holds and
-- none has tried. Returns whether it did. If a claim meets it, one of the two wins.
-- An event that is in the event store has happened, and is not taken back.
-- In a transaction of the caller it is taken back if and only if that commits. For a timer, nobody waits meanwhile. For
-- a message, calls that meet its stream do.
-- p_who: an operator does it, and it is written down. Null: the application does.
-- Locks: the timer row, waiting for who sends it; then as wh_cancel_{lane}.
-- Reads by: primary key.
-- Raises: none
-- Called by: timer-functions.ts
create or replace function wh_cancel_message(p_message_id uuid, p_who text default null)
returns boolean
language plpgsql security definer
set search_path from current
-- One plan, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set jit = off set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
begin
  delete from wh_timers t where t.message_id = p_message_id;
  if not (found or wh_cancel_outbox(p_message_id) or wh_cancel_inbox(p_message_id)) then
    return false;
  end if;
  if p_who is not null then
    perform wh_note_operation(p_who, 'cancel', 'message ' || p_message_id, null);
  end if;
  return true;
end
$$;
