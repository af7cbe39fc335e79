-- Tells whether a completion finishes an outbox message: it carries Published.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: wh_finish_{lane}, wh_report_{lane}, wh_settle_one
create or replace function wh_is_done_outbox(p_status int, p_completion int)
returns boolean
language sql immutable parallel safe
as $$
  select p_completion & {Published} <> 0
$$;
