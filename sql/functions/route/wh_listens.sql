-- Returns those of these addresses that this schema subscribes to.
-- For wh_transfer of other schemas, which runs with the rights of its caller and must not complete a command that no
-- schema receives.
-- Locks: none
-- Reads by: primary key.
-- Raises: none
-- Called by: delivery-functions.ts, wh_heard_elsewhere, wh_transfer, wh_transfer_each
create or replace function wh_listens(p_addresses text[])
returns text[]
language sql stable security definer
set search_path from current
as $$
  select coalesce(array_agg(distinct s.address), '{}') from wh_subscriptions s where s.address = any(p_addresses)
$$;
