-- Leases bookmarks of the perspectives that the caller has code for, behind what wh_look_for_perspectives has seen:
-- p_seen.
-- Locks: as wh_claim_bookmarks.
-- Reads by: as the functions that it calls.
-- Raises: none
-- Called by: process_work_batch
create or replace function wh_claim_perspectives(c wh_call, p_codes text[], p_room int, p_flags int, p_seen int)
returns setof wh_work_item
language plpgsql
as $$
begin
  if p_seen & 1 <> 0 then
    return query select * from wh_claim_bookmarks(c, p_codes, p_room);
  end if;
  if p_seen & 2 <> 0 and p_flags & {LookAgain} <> 0 then
    return query select * from wh_look_again();
  end if;
end
$$;
