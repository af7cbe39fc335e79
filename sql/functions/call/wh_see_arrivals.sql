-- Reads what was plainly inserted since the last look, in the lanes in which anything was.
-- p_polls: the call neither reports nor stores anything.
-- Locks: none
-- Reads by: as wh_arrivals_{lane} and wh_rank_caller.
-- Raises: none
-- Called by: process_work_batch
create or replace function wh_see_arrivals(c wh_call, p_outbox_room int, p_inbox_room int, p_polls boolean, p_stale_threshold_seconds int)
returns wh_seen
language plpgsql
as $$
declare
  v_outbox wh_arrived := row('{}', null, false, null, false);
  v_inbox wh_arrived := row('{}', null, false, null, false);
begin
  c := wh_rank_caller(c, p_stale_threshold_seconds);
  if c.outbox_arrived then
    v_outbox := wh_arrivals_outbox(c, p_outbox_room, p_polls);
    c.outbox_all_seen := v_outbox.all_seen;
    c.outbox_ranked := c.outbox_ranked or v_outbox.has_ranked;
  end if;
  if c.inbox_arrived then
    v_inbox := wh_arrivals_inbox(c, p_inbox_room, p_polls);
    c.inbox_all_seen := v_inbox.all_seen;
    c.inbox_ranked := c.inbox_ranked or v_inbox.has_ranked;
  end if;
  return row(c, v_outbox, v_inbox)::wh_seen;
end
$$;
