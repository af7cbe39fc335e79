-- Joins two neighbouring ranges of a perspective that nobody works on, if nothing is left to read for either: at the
-- place of the one that is further. One pair at a time.
-- Locks: the row of wh_perspectives, and the two bookmarks; skip locked.
-- Reads by: primary key; ticks by primary key, at most 1 000.
-- Raises: none
-- Called by: wh_claim_bookmarks
create or replace function wh_join_bookmarks(p_name text)
returns void
language plpgsql
as $$
declare
  p wh_perspectives;
  a wh_perspective_bookmarks; -- the lower range
  z wh_perspective_bookmarks; -- the range above it
  v_live_tick bigint;
  v_live_upto bigint;
  v_is_done boolean;
begin
  select x.* into p from wh_perspectives x where x.name = p_name for no key update skip locked;
  for i in 1 .. coalesce(cardinality(p.cuts), 0) - 1 loop
    select x.* into a from wh_perspective_bookmarks x
    where x.name = p_name and x.from_partition = p.cuts[i] and x.instance_id is null and x.swept is null
    for update skip locked;
    select x.* into z from wh_perspective_bookmarks x
    where x.name = p_name and x.from_partition = p.cuts[i + 1] and x.instance_id is null and x.swept is null
    for update skip locked;
    continue when a.name is null or z.name is null;
    if p.state = any(array['live', 'building']) then
      -- What is above the lower of the two, up to the newest tick, has nothing of its types.
      select not exists (
        select from wh_event_ticks t
        where t.tick >= l.tick and (t.first_tick > l.tick or t.covers && int8range(l.upto, null, '()')) and t.types && p.event_types)
        and l.tick > (select max(t.tick) - 1000 from wh_event_ticks t)
      into v_is_done
      from (values (a.tick, a.upto), (z.tick, z.upto)) as l(tick, upto)
      order by wh_present_tick(l.tick), l.upto
      limit 1;
    else
      select x.tick, x.upto into v_live_tick, v_live_upto from wh_live_position(p.base_name) x;
      v_is_done := (wh_present_tick(a.tick), a.upto) = (v_live_tick, v_live_upto) and (wh_present_tick(z.tick), z.upto) = (v_live_tick, v_live_upto);
    end if;
    continue when v_is_done is not true;
    delete from wh_perspective_bookmarks x where x.name = p_name and x.from_partition = any(array[a.from_partition, z.from_partition]);
    if (wh_present_tick(a.tick), a.upto) < (wh_present_tick(z.tick), z.upto) then
      a.tick := z.tick;
      a.upto := z.upto;
    end if;
    a.to_partition := z.to_partition;
    a.fence := greatest(a.fence, z.fence) + 1;
    insert into wh_perspective_bookmarks select a.*;
    update wh_perspectives x set cuts = array_remove(x.cuts, z.from_partition) where x.name = p_name;
    return;
  end loop;
end
$$;
