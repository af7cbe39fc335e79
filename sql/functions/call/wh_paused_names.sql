-- Returns what is paused, as wh_lanes repeats it: names of handlers, and an empty one for the intake. Null: nothing.
-- Locks: none
-- Reads by: all pauses that are not of streams.
-- Raises: none
-- Called by: wh_pause, wh_restore_lanes, wh_resume
create or replace function wh_paused_names()
returns text[]
language sql stable
as $$
  select array_agg(p.name order by p.name) from wh_pauses p where p.kind <> 'stream'
$$;
