-- Returns those of these addresses that another schema listens to, or may listen to: all of them if one of those
-- schemas cannot be asked.
-- It runs inside a call with the rights of this schema's owner, so it must not run foreign code. It asks only schemas
-- whose functions belong to the same owner or to a superuser. Another owner's schema counts as listening if anybody who
-- sends for this schema could deliver to it: the caller, or a role that may execute wh_transfer.
-- It only reads in those schemas, and waits at most 50 ms for a lock.
-- Locks: none of rows; it waits at most 50 ms for a table lock.
-- Reads by: the system catalogue; the other schemas as wh_listens.
-- Raises: none; a schema that raises an error counts as listening.
-- Called by: wh_heard_only_here
create or replace function wh_heard_elsewhere(p_addresses text[])
returns text[]
language plpgsql
set lock_timeout = '50ms'
as $$
declare
  v_heard text[];
  v_elsewhere text[] := '{}';
  v_schema name;
  v_receive oid;
  v_is_trusted boolean;
begin
  for v_schema, v_receive, v_is_trusted in
    select n.nspname, p.oid, exists (
      select from pg_proc l
      join pg_roles r on r.oid = l.proowner
      where l.proname = 'wh_listens' and l.pronamespace = n.oid and l.pronargs = 1 and l.proargtypes[0] = 'text[]'::regtype
        and l.prosecdef and (r.rolname = current_user or r.rolsuper))
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
    where p.proname = 'wh_receive' and p.pronargs = 1 and p.proargtypes[0] = 'jsonb'::regtype and p.prosecdef
      and n.nspname <> current_schema()
    order by n.nspname
  loop
    if v_is_trusted then
      execute format('select %I.wh_listens($1)', v_schema) into v_heard using p_addresses;
      v_elsewhere := v_elsewhere || v_heard;
    elsif exists (
      select from pg_roles r
      where (r.rolname in (current_user, session_user, current_setting('role'))
             or not r.rolsuper and has_function_privilege(r.oid, format('%I.wh_transfer(uuid, text, text, int, uuid[])', current_schema()), 'execute'))
        and has_schema_privilege(r.oid, v_schema, 'usage') and has_function_privilege(r.oid, v_receive, 'execute'))
    then
      return p_addresses;
    end if;
  end loop;
  return v_elsewhere;
exception
  when others then
    return p_addresses; -- a schema is broken or locked: it counts as listening
end
$$;
