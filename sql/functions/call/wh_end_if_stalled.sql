-- For a handler's transaction that has reported and is about to commit: when its process stalls now, PostgreSQL ends it after
-- one lease, so that the streams it has locked are not locked for ever. A session that is more impatient stays so.
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
