-- Notes that a batch behind a bookmark has failed as a whole, for those who ask why a perspective is behind. Nothing of
-- the batch was stored. It is forgotten when the bookmark moves, or has nothing left to read. Who does not hold the
-- bookmark notes nothing.
-- Locks: the row of the bookmark, skip locked.
-- Reads by: primary key, newest first.
-- Raises: none
-- Called by: perspective-functions.ts
create or replace function wh_note_failure(p_instance_id uuid, p_name text, p_from_partition int, p_error text)
returns void
language plpgsql security definer
set search_path from current
as $$
declare
  c_longest_error constant int := 4000;
  b wh_perspective_bookmarks;
begin
  select x.* into b from wh_perspective_bookmarks x
  where x.name = p_name and x.from_partition = p_from_partition
  order by x.tick desc, x.upto desc
  limit 1
  for update skip locked;
  if b.instance_id = p_instance_id then
    update wh_perspective_bookmarks x
    set failures = b.failures + 1, failing_since = coalesce(b.failing_since, clock_timestamp()), last_error = left(p_error, c_longest_error)
    where x.name = b.name and x.from_partition = b.from_partition and x.tick = b.tick and x.upto = b.upto;
  end if;
end
$$;
