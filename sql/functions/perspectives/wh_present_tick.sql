-- Returns the number under which a tick is found now: its own, or that of the tick into which it was merged. Places of
-- the log that were noted at different times are compared by it: within a merged tick the numbers of the events decide.
-- Locks: none
-- Reads by: one tick, by primary key.
-- Raises: none
-- Called by: wh_next_held, wh_next_logged
create or replace function wh_present_tick(p_tick bigint)
returns bigint
language plpgsql stable
as $$
declare
  t wh_event_ticks;
begin
  select x.* into t from wh_event_ticks x where x.tick >= p_tick order by x.tick limit 1;
  return case when t.first_tick <= p_tick then t.tick else p_tick end;
end
$$;
