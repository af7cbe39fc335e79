-- Merges neighbouring ticks behind p_after, up to p_through, into about TickSize events each, where all numbers of one
-- lie above those of the one before: so the order of the events stays as it is, and so do the positions in it.
-- A tick that the audit has made stays as it is. Returns up to which tick nothing is left to merge.
-- Locks: rows of wh_event_ticks; the caller has the lock of wh_lock_ticks.
-- Reads by: at most 5 000 ticks, by primary key.
-- Raises: none
-- Called by: wh_note_audit
create or replace function wh_merge_ticks(p_after bigint, p_through bigint)
returns bigint
language plpgsql
as $$
declare
  v_lows bigint[]; -- of each group that is merged: its first row, its last row, and the first tick that is in it
  v_ticks bigint[];
  v_firsts bigint[];
  v_merged bigint;
begin
  with part as materialized (
    select t.* from wh_event_ticks t where t.tick > p_after and t.tick <= p_through order by t.tick limit 5000
  ), neighbour as (
    select p.*, p.is_late or lag(p.is_late) over w is not false or coalesce(lower(p.covers) < upper(lag(p.covers) over w), true) as is_apart
    from part p
    window w as (order by p.tick)
  ), chained as (
    select n.*, count(*) filter (where n.is_apart) over (order by n.tick) as chain from neighbour n
  ), grouped as (
    select c.*, (sum(c.events) over (partition by c.chain order by c.tick) - 1) / {TickSize} as link from chained c
  ), whole as materialized (
    select min(g.tick) as low, max(g.tick) as tick, min(g.first_tick) as first_tick from grouped g group by g.chain, g.link
  ), several as materialized (
    select w.* from whole w where w.low < w.tick order by w.tick
  )
  -- The last group may still grow.
  select array(select s.low from several s), array(select s.tick from several s), array(select s.first_tick from several s),
         (select w.tick from whole w order by w.tick desc offset 1 limit 1)
  into v_lows, v_ticks, v_firsts, v_merged;
  update wh_event_ticks t
  set first_tick = g.first_tick, covers = m.covers, events = m.events, types = y.types
  from unnest(v_lows, v_ticks, v_firsts) as g(low, tick, first_tick)
  cross join lateral (
    select range_agg(x.covers) as covers, sum(x.events) as events from wh_event_ticks x where x.tick >= g.low and x.tick <= g.tick
  ) m
  cross join lateral (
    select array_agg(distinct u.type) as types
    from wh_event_ticks x cross join unnest(x.types) as u(type)
    where x.tick >= g.low and x.tick <= g.tick
  ) y
  where t.tick = g.tick;
  delete from wh_event_ticks t
  using unnest(v_lows, v_ticks) as g(low, tick)
  where t.tick >= g.low and t.tick < g.tick;
  return coalesce(v_merged, p_after);
end
$$;
