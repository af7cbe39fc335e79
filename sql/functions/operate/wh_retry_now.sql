-- Makes a message due now that waits for its next attempt, or for the time for which it was sent. Returns whether it
-- waited. Its place in its stream stays; a timer takes its place in its stream now.
-- Locks: as wh_make_due_{lane}, or the timer row; as wh_notify_all.
-- Reads by: primary key.
-- Raises: none
-- Called by: operate-functions.ts
create or replace function wh_retry_now(p_message_id uuid, p_who text default null)
returns boolean
language plpgsql security definer
set search_path from current
as $$
declare
  v_before jsonb;
  v_now timestamptz;
begin
  -- The id of the transaction comes before its time: the floors of searches respect it, as in wh_stamp_call.
  perform pg_current_xact_id();
  v_before := coalesce(wh_make_due_inbox(p_message_id), wh_make_due_outbox(p_message_id));
  if v_before is not null then
    perform wh_notify_all();
  else
    select jsonb_build_object('lane', 'timer', 'due_at', t.due_at) into v_before
    from wh_timers t
    where t.message_id = p_message_id and t.due_at > clock_timestamp()
    for no key update;
    if v_before is null then
      return false;
    end if;
    v_now := date_trunc('milliseconds', clock_timestamp());
    update wh_timers t set due_at = v_now where t.message_id = p_message_id;
    perform pg_notify(wh_channel(), 'timer ' || extract(epoch from v_now));
  end if;
  perform wh_note_operation(p_who, 'retry-now', 'message ' || p_message_id, v_before);
  return true;
end
$$;
