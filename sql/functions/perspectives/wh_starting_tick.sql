-- Returns the tick up to which events are history for a new build of a perspective: the newest one; beside a live build
-- the last one that this has wholly passed. Null: there is none.
-- More than TickSize events become several ticks of one moment. Their marks are the same, so only the last one tells
-- which events are up to it.
-- Locks: none
-- Reads by: ticks by primary key, newest first.
-- Raises: none
-- Called by: wh_build_perspective
create or replace function wh_starting_tick(p_base_name text)
returns wh_event_ticks
language plpgsql stable
as $$
declare
  l wh_event_ticks;
  v_live_tick bigint;
  v_live_upto bigint;
begin
  select x.tick, x.upto into v_live_tick, v_live_upto from wh_live_position(p_base_name) x;
  select t.* into l
  from wh_event_ticks t
  where (v_live_tick is null or t.tick < v_live_tick or t.tick = v_live_tick and upper(t.covers) - 1 <= v_live_upto)
    and not exists (select from wh_event_ticks n where n.tick > t.tick and n.next_xid = t.next_xid and n.open = t.open)
  order by t.tick desc
  limit 1;
  return l;
end
$$;
