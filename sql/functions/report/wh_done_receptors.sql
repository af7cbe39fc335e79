-- Returns the receptors that have handled this event, so that only the missing ones run again.
-- Locks: none
-- Reads by: primary key.
-- Raises: none
-- Called by: functions.ts
create or replace function wh_done_receptors(p_event_id uuid)
returns text[]
language sql stable security definer
set search_path from current
as $$
  select coalesce(array_agg(r.receptor_name), '{}')
  from wh_receptor_processing r
  where r.event_id = p_event_id and r.status & {ReceptorProcessed} <> 0
$$;
