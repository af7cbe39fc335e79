-- Makes PostgreSQL end this transaction if its process stalls for one lease. It is for a handler's transaction that has
-- reported and is about to commit: otherwise the streams that it has locked would stay locked.
-- A session with a shorter timeout keeps it.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: process_work_batch, wh_settle_one
create or replace function wh_end_if_stalled(p_lease_seconds int)
returns void
language plpgsql
as $$
begin
  if coalesce(nullif(current_setting('idle_in_transaction_session_timeout'), '0')::interval > make_interval(secs => p_lease_seconds), true) then
    perform set_config('idle_in_transaction_session_timeout', (least(p_lease_seconds, 86400) * 1000)::text, true);
  end if;
end
$$;
