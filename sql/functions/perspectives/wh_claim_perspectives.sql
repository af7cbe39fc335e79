-- The part of a call for perspectives: makes a tick, and leases bookmarks of the perspectives that the caller has code
-- for.
-- A tick is made where the call waits for nobody any more: who waits would stop all ticks.
-- If another session makes ticks at this moment, or the call itself has stored events, which are in no tick before it
-- has ended, the caller is told to look again (flag LookAgain).
-- Locks: as wh_tick and wh_claim_bookmarks.
-- Reads by: as the functions that it calls.
-- Raises: WB001, WB003
-- Called by: process_work_batch
create or replace function wh_claim_perspectives(c wh_call, p_codes text[], p_room int, p_flags int, p_has_events boolean)
returns setof wh_work_item
language plpgsql
as $$
declare
  v_codes text[] := wh_check_names('p_perspectives', p_codes);
  v_can_tick boolean;
begin
  if p_room = 0 then
    return;
  end if;
  v_can_tick := wh_lock_ticks();
  if v_can_tick then
    perform wh_tick();
  end if;
  return query select * from wh_claim_bookmarks(c, v_codes, p_room);
  if p_flags & {LookAgain} <> 0 and (p_has_events or not v_can_tick) then
    return query select * from wh_look_again();
  end if;
end
$$;
