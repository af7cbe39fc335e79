-- Of these addresses, those that this schema subscribes to. For wh_transfer of other schemas, which runs with the rights of its
-- caller: it must not complete a command that nobody gets. Reads by primary key.
create or replace function wh_listens(p_addresses text[])
returns text[]
language sql stable security definer
set search_path from current
as $$
  select coalesce(array_agg(distinct s.address), '{}') from wh_subscriptions s where s.address = any(p_addresses)
$$;
