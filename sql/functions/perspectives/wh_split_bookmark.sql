-- Gives away the upper half of a bookmark's range, if that was asked for in the last ten seconds: it becomes a bookmark
-- of its own, at the same place. Returns the lower half, which the caller goes on with.
-- Locks: the row of wh_perspectives, skip locked: who holds it may wait for rows that the caller has.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_move_bookmark
create or replace function wh_split_bookmark(p wh_perspectives, b wh_perspective_bookmarks)
returns wh_perspective_bookmarks
language plpgsql
as $$
declare
  u wh_perspective_bookmarks := b; -- the upper half
begin
  if p.split_wanted_at < clock_timestamp() - interval '10 seconds' or p.kind = 'keyed' or b.from_partition = b.to_partition then
    return b;
  end if;
  perform from wh_perspectives x where x.name = p.name and x.split_wanted_at = p.split_wanted_at for no key update skip locked;
  if not found then
    return b;
  end if;
  b.to_partition := (b.from_partition + b.to_partition) / 2;
  u.from_partition := b.to_partition + 1;
  u.instance_id := null;
  u.lease_expiry := null;
  if wh_partition(b.part_stream_id, 10000) > b.to_partition then
    b.part_stream_id := null;
  else
    u.part_stream_id := null;
  end if;
  u.applied := 0;
  u.applied_since := u.moved_at;
  insert into wh_perspective_bookmarks select u.*;
  update wh_perspectives x
  set split_wanted_at = '-infinity', cuts = array(select c from unnest(x.cuts || u.from_partition) c order by c)
  where x.name = p.name;
  return b;
end
$$;
