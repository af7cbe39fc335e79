-- Returns the schemas of this database to which the caller may deliver, by name: those whose wh_receive it may execute.
-- can_say: whether it may ask what they listen to. A schema that is older, or not granted, counts as listening to
-- everything.
-- It runs with the rights of its caller, for wh_transfer.
-- Locks: none
-- Reads by: the system catalogue.
-- Raises: none
-- Called by: delivery-functions.ts, wh_transfer, wh_transfer_each
create or replace function wh_receivers()
returns table (schema name, can_say boolean)
language plpgsql stable
set search_path from current
as $$
begin
  return query
  select n.nspname, exists (
    select from pg_proc l
    where l.proname = 'wh_listens' and l.pronamespace = n.oid and l.pronargs = 1 and l.proargtypes[0] = 'text[]'::regtype
      and l.prosecdef and has_function_privilege(l.oid, 'execute'))
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
  where p.proname = 'wh_receive' and p.pronargs = 1 and p.proargtypes[0] = 'jsonb'::regtype and p.prosecdef
    and has_schema_privilege(n.oid, 'usage') and has_function_privilege(p.oid, 'execute')
  order by n.nspname;
end
$$;
