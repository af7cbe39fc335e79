-- Returns those of these addresses that this schema listens to, and that no other schema listens to that could be
-- delivered to (wh_heard_elsewhere).
-- Locks: none
-- Reads by: wh_subscriptions by primary key; the system catalogue.
-- Raises: none
-- Called by: wh_route
create or replace function wh_heard_only_here(p_addresses text[])
returns text[]
language plpgsql
as $$
declare
  v_heard text[] := array(select distinct s.address from wh_subscriptions s where s.address = any(p_addresses));
begin
  -- Mostly there is no other schema, and this check costs less than asking.
  if v_heard = '{}' or not exists (select from pg_proc p where p.proname = 'wh_receive' and p.pronamespace <> quote_ident(current_schema())::regnamespace) then
    return v_heard;
  end if;
  return array(select unnest(v_heard) except select unnest(wh_heard_elsewhere(v_heard)));
end
$$;
