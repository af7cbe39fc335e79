-- Renews what a call hands out that has waited for another transaction, because the leases have aged meanwhile. Returns
-- what the caller still holds.
-- Locks: as wh_renew_{lane}.
-- Reads by: primary key.
-- Raises: serialization_failure when the clock has gone back during the call, and when the call has waited for more
--   than two leases and would hand something out.
-- Called by: process_work_batch
create or replace function wh_renew_after_wait(c wh_call, p_outbox uuid[], p_inbox uuid[])
returns wh_leased
language plpgsql
as $$
begin
  if clock_timestamp() < c.now then
    raise exception using
      errcode = 'serialization_failure',
      message = 'process_work_batch: the clock of the server went back during this call',
      hint = 'Nothing was changed. Send the call again.';
  end if;
  -- Its caller may have given it up long ago, and must be able to count on that: what it does not know of is not leased to it any more.
  if clock_timestamp() > c.now + make_interval(secs => 2 * c.lease_seconds) and (p_outbox <> '{}' or p_inbox <> '{}') then
    raise exception using
      errcode = 'serialization_failure',
      message = 'process_work_batch: this call waited for other transactions for longer than two leases',
      hint = 'Nothing was changed. Send the call again.';
  end if;
  c := wh_stamp_call(c, false);
  return row(wh_renew_outbox(c, p_outbox), wh_renew_inbox(c, p_inbox))::wh_leased;
end
$$;
