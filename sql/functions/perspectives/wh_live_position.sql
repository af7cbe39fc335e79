-- Returns up to where the live build of a perspective has read, in all its ranges. No row: none is live.
-- Locks: none
-- Reads by: all rows of wh_perspectives; bookmarks by primary key, newest first.
-- Raises: none
-- Called by: wh_is_due, wh_next_logged
create or replace function wh_live_position(p_base_name text, out tick bigint, out upto bigint)
returns setof record
language plpgsql stable
as $$
begin
  return query
  select b.tick, b.upto
  from wh_perspectives p
  cross join unnest(p.cuts) as cut
  cross join lateral (
    select x.tick, x.upto from wh_perspective_bookmarks x
    where x.name = p.name and x.from_partition = cut
    order by x.tick desc, x.upto desc
    limit 1
  ) b
  where p.base_name = p_base_name and p.state = 'live'
  order by b.tick, b.upto
  limit 1;
end
$$;
