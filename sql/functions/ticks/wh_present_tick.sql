-- Returns the number under which a tick is found now: that of the row into which it was merged. Places of two readers
-- can be compared only with these numbers, because one of them may have read the tick before it was merged.
-- A tick that there is not yet keeps its number.
-- Locks: none
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_is_due, wh_join_bookmarks, wh_live_position, wh_next_held, wh_next_logged, wh_places,
--   wh_reset_perspective, wh_switch_over
create or replace function wh_present_tick(p_tick bigint)
returns bigint
language sql stable
as $$
  select coalesce((select t.tick from wh_event_ticks t where t.tick >= p_tick order by t.tick limit 1), p_tick)
$$;
