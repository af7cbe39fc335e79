-- Gives back the lease of a receiver, so that the next one takes it at once. Returns whether the caller had it.
-- Locks: the row of the lease.
-- Reads by: primary key.
-- Raises: none
-- Called by: functions.ts
create or replace function wh_leave_receiver(p_name text, p_holder uuid)
returns boolean
language plpgsql security definer
set search_path from current
as $$
begin
  update wh_receiver_leases l
  set holder = null, changed_at = clock_timestamp()
  where l.name = p_name and l.holder = p_holder;
  return found;
end
$$;
