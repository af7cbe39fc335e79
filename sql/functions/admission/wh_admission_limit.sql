-- How many plainly inserted messages a call admits at most: about twice what it has room for, as some are others'.
create or replace function wh_admission_limit(p_room int)
returns int
language sql immutable parallel safe
as $$
  select 2 * least(greatest(p_room, 50), 500)
$$;
