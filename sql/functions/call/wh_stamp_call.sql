-- Sets the time of the call and the end of its leases. process_work_batch does that once before it writes, and again at
-- its end if it has waited so long that its leases have aged.
-- A call that writes takes its transaction id first. So when a later call notes a floor above this time, this
-- transaction is known to be running (see wh_move_floors_{lane}).
-- Locks: none
-- Reads by: no table
-- Raises: serialization_failure if the clock went back during the call.
-- Called by: process_work_batch, wh_renew_after_wait
create or replace function wh_stamp_call(c wh_call, p_writes boolean)
returns wh_call
language plpgsql
as $$
declare
  v_transaction_id xid8;
begin
  if p_writes then
    -- An assignment costs less than a perform, which sets up a statement.
    -- See docs/internals/mechanism.md#plans-that-hold
    v_transaction_id := pg_current_xact_id();
  end if;
  c.now := clock_timestamp();
  if c.now < c.opened_at then
    raise exception using
      errcode = 'serialization_failure',
      message = 'process_work_batch: the clock of the server went back during this call',
      hint = 'Nothing was changed. Send the call again.';
  end if;
  c.lease_expiry := c.now + make_interval(secs => c.lease_seconds);
  -- A lease that ends no earlier counts as new. A worker gives up what it holds longer than this before the end.
  c.fresh_from := c.lease_expiry - make_interval(secs => least(1, c.lease_seconds / 5.0));
  return c;
end
$$;
