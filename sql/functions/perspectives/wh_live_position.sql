-- Returns up to where the build that queries read has come, in all its ranges. No row: there is none.
-- Locks: none
-- Reads by: all rows of wh_perspectives; bookmarks by primary key, newest first.
-- Raises: none
-- Called by: wh_build_progress, wh_is_due, wh_join_bookmarks, wh_next_logged, wh_starting_tick
create or replace function wh_live_position(p_base_name text, out tick bigint, out upto bigint)
returns setof record
language plpgsql stable
as $$
begin
  return query
  select wh_present_tick(b.tick), b.upto
  from wh_perspectives p
  cross join unnest(p.cuts) as cut
  cross join lateral (
    select x.tick, x.upto from wh_perspective_bookmarks x
    where x.name = p.name and x.from_partition = cut
    order by x.tick desc, x.upto desc
    limit 1
  ) b
  where p.base_name = p_base_name and p.state = any(array['live', 'building'])
  order by 1, 2
  limit 1;
end
$$;
