-- Moves a bookmark that nobody holds behind ticks that do not concern its perspective.
-- Locks: the row of the bookmark, skip locked.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_is_due
create or replace function wh_pass_by(b wh_perspective_bookmarks, p_tick bigint, p_upto bigint)
returns void
language plpgsql
as $$
begin
  perform from wh_perspective_bookmarks x
  where x.name = b.name and x.from_partition = b.from_partition and x.tick = b.tick and x.upto = b.upto and x.instance_id is null
  for update skip locked;
  if found then
    delete from wh_perspective_bookmarks x where x.name = b.name and x.from_partition = b.from_partition and x.tick = b.tick and x.upto = b.upto;
    b.tick := p_tick;
    b.upto := p_upto;
    insert into wh_perspective_bookmarks select b.*;
  end if;
end
$$;
