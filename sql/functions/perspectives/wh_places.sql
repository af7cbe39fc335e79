-- Returns where the bookmarks of a build stand.
-- Locks: none
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_build_progress, wh_halt_live, wh_reset_perspective, wh_switch_over
create or replace function wh_places(p_name text)
returns wh_place
language sql stable
as $$
  with place as (
    select wh_present_tick(b.tick) as tick, b.upto, b.swept from wh_perspective_bookmarks b where b.name = p_name
  )
  select l.tick, l.upto, h.tick, h.upto, exists (select from place p where p.swept is not null)
  from (select p.tick, p.upto from place p order by p.tick, p.upto limit 1) l
  cross join (select p.tick, p.upto from place p order by p.tick desc, p.upto desc limit 1) h
$$;
