-- Returns how many plainly inserted messages a call admits at most: about twice its room, because some belong to other
-- instances.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: wh_arrivals_{lane}, wh_meets_crowd_{lane}
create or replace function wh_admission_limit(p_room int)
returns int
language sql immutable parallel safe
as $$
  select 2 * least(greatest(p_room, 50), 500)
$$;
