-- Tells whether a completion finishes an inbox message: it carries EventStored, or ReceptorProcessed and
-- PerspectiveProcessed are both set by then.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: wh_finish_{lane}, wh_report_{lane}, wh_settle_one
create or replace function wh_is_done_inbox(p_status int, p_completion int)
returns boolean
language sql immutable parallel safe
as $$
  select p_completion & {EventStored} <> 0 or (p_status | p_completion) & {BothStages} = {BothStages}
$$;
