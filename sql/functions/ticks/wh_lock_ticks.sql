-- Tries to become the one who makes ticks, until the end of the transaction. Returns whether it could.
-- What the holder before has made is visible to the statements that come after this call, and only to those: in the
-- same statement the newest tick would be a stale one.
-- Locks: the advisory lock (TickLock, schema), tried without waiting.
-- Reads by: no table
-- Raises: WB003 above READ COMMITTED, where later statements would not see the newest tick either.
-- Called by: wh_audit_ticks, wh_look_for_perspectives, wh_tick
create or replace function wh_lock_ticks()
returns boolean
language plpgsql
as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception using
      errcode = 'WB003',
      message = format('wh_tick: the isolation level is %s, it must be READ COMMITTED', current_setting('transaction_isolation')),
      hint = 'Ticks are made from what is committed now. Run it in a transaction with the default isolation level.';
  end if;
  return pg_try_advisory_xact_lock({TickLock}, hashtext(current_schema()));
end
$$;
