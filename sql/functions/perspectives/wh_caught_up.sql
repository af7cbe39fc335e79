-- A range of a perspective that has nothing left to read: if its other ranges are as far, the first build of its name
-- is live from now on.
-- Locks: the row of wh_perspectives, skip locked: who holds it may wait for rows that the caller has.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_move_bookmark, wh_take_bookmark
create or replace function wh_caught_up(p wh_perspectives, b wh_perspective_bookmarks)
returns void
language plpgsql
as $$
begin
  if p.state = 'building' and not p.is_paused and not exists (
    select from wh_perspective_bookmarks x where x.name = p.name and x.from_partition <> b.from_partition and (x.swept is not null or x.tick < b.tick - 5))
  then
    update wh_perspectives x
    set state = 'live', switched_at = clock_timestamp()
    from (select y.name from wh_perspectives y where y.name = p.name and y.state = 'building' for no key update skip locked) y
    where x.name = y.name;
  end if;
end
$$;
