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
  ), grouped as materialized (
    select c.*, (sum(c.events) over (partition by c.chain order by c.tick) - 1) / {TickSize} as link from chained c
  ), typed as (
    select g.chain, g.link, array_agg(distinct u.type) as types
    from grouped g cross join unnest(g.types) as u(type)
    group by g.chain, g.link
  ), whole as materialized (
    select g.chain, g.link, min(g.first_tick) as first_tick, max(g.tick) as tick, range_agg(g.covers) as covers, sum(g.events) as events, count(*) as ticks
    from grouped g
    group by g.chain, g.link
  ), merged as (
    update wh_event_ticks t
    set first_tick = w.first_tick, covers = w.covers, types = y.types, events = w.events
    from whole w join typed y on y.chain = w.chain and y.link = w.link
    where t.tick = w.tick and w.ticks > 1
  ), gone as (
    delete from wh_event_ticks t
    using grouped g join whole w on w.chain = g.chain and w.link = g.link
    where t.tick = g.tick and g.tick < w.tick
  )
  -- The last group may still grow.
  select w.tick into v_merged from whole w order by w.tick desc offset 1 limit 1;
  return coalesce(v_merged, p_after);
end
$$;
