-- Returns what the receptors of this event have reported, so that only those run that are missing and due.
-- wait_seconds: how long the receptor still has to wait after a failure. Zero or less: it is due. Null: it does not
-- wait.
-- Locks: none
-- Reads by: primary key.
-- Raises: none
-- Called by: functions.ts
create or replace function wh_receptor_records(p_event_id uuid)
returns table (receptor_name text, is_done boolean, is_given_up boolean, attempts int, wait_seconds double precision, error text)
language sql stable security definer
set search_path from current
as $$
  select r.receptor_name, r.status & {ReceptorProcessed} <> 0, r.given_up_at is not null, r.attempts,
    extract(epoch from r.retry_at - clock_timestamp())::double precision, r.error
  from wh_receptor_processing r
  where r.event_id = p_event_id
  order by r.receptor_name
$$;
