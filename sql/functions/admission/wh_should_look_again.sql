-- Tells whether a call has handed out nothing of a lane, has put some streams or messages in order, and has left more
-- of that to do.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: process_work_batch
create or replace function wh_should_look_again(p_leased uuid[], p_claimed wh_claimed, p_arrived wh_arrived, p_admitted wh_arrival[])
returns boolean
language sql immutable parallel safe
as $$
  select p_leased = '{}' and (coalesce((p_claimed).is_cut, false) or (p_arrived).is_crowd and coalesce(p_admitted <> '{}', false))
$$;
