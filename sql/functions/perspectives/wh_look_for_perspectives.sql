-- The part of a call for perspectives that is made each time: makes a tick, and sees whether there is anything to
-- lease for the perspectives that the caller has code for. Mostly there is not, and then the call reads no further.
-- Returns 0: nothing; otherwise a sum of 1: wh_claim_perspectives has to look; 2: the caller has to look again,
-- because another session makes ticks at this moment, or the call itself has stored events, which are in no tick
-- before it has ended.
-- A tick is made where the call waits for nobody any more: who waits would stop all ticks.
-- It never misses work: whatever is not plainly at rest counts as work (a build, several ranges, a bookmark that is
-- far behind the newest tick or above it).
-- Locks: as wh_tick_if_due.
-- Reads by: all rows of wh_perspectives; bookmarks by primary key, newest first; ticks by primary key, at most 100
--   for each; wh_perspective_checkpoints_held.
-- Raises: WB001, WB003
-- Called by: process_work_batch
create or replace function wh_look_for_perspectives(p_now timestamptz, p_codes text[], p_room int, p_has_events boolean)
returns int
language plpgsql
as $$
declare
  c_most_ticks constant int := 100;
  v_codes text[] := wh_check_names('p_perspectives', p_codes);
  v_can_tick boolean;
  v_newest bigint;
begin
  if p_room = 0 then
    return 0;
  end if;
  v_can_tick := wh_lock_ticks();
  if v_can_tick then
    v_newest := wh_tick_if_due();
  else
    v_newest := coalesce((select t.tick from wh_event_ticks t order by t.tick desc limit 1), 0);
  end if;
  return case when v_can_tick and not p_has_events then 0 else 2 end + exists (
    select from wh_perspectives p
    where p.code = any(v_codes) and not p.is_paused
      and (
        p.state <> 'live' or cardinality(p.cuts) > 1
        or exists (select from wh_perspective_checkpoints k where k.perspective_name = p.name and k.held and k.retry_at <= p_now)
        or not exists (
          select from (
            select x.tick, x.upto, x.swept from wh_perspective_bookmarks x
            where x.name = p.name and x.from_partition = p.cuts[1]
            order by x.tick desc, x.upto desc
            limit 1
          ) b
          where b.swept is null and b.tick between v_newest - c_most_ticks and v_newest
            and not exists (
              select from wh_event_ticks t
              where t.tick >= b.tick and (t.first_tick > b.tick or t.covers && int8range(b.upto, null, '()')) and t.types && p.event_types)))
  )::int;
end
$$;
