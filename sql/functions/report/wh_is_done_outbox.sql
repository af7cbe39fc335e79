-- Whether a completion finishes an outbox message: when it carries Published.
create or replace function wh_is_done_outbox(p_status int, p_completion int)
returns boolean
language sql immutable parallel safe
as $$
  select p_completion & {Published} <> 0
$$;
