-- Whether a completion finishes an inbox message: when it carries EventStored, or when ReceptorProcessed and
-- PerspectiveProcessed are both set by then.
create or replace function wh_is_done_inbox(p_status int, p_completion int)
returns boolean
language sql immutable parallel safe
as $$
  select p_completion & {EventStored} <> 0 or (p_status | p_completion) & {BothStages} = {BothStages}
$$;
