-- Returns the priority that the metadata of a message names, which travel through every transport. Null: none, or 0.
-- Locks: none
-- Reads by: no table
-- Raises: none; what is no number is none.
-- Called by: wh_receive
create or replace function wh_priority_of(p_metadata jsonb)
returns int
language sql immutable parallel safe
as $$
  select case when jsonb_typeof(p_metadata -> 'priority') = 'number'
    then nullif(least(greatest(round((p_metadata ->> 'priority')::numeric), -{LargestInt}), {LargestInt})::int, 0) end
$$;
