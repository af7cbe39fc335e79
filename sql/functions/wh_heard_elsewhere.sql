-- Of these addresses, those that another schema than this one listens to, or may listen to: all, when one of them cannot say.
-- It counts a schema that the caller can deliver to (wh_receivers), or that the owner of this one can: it runs with the owner's rights, in
-- a call, and does not know for sure who calls. It only reads there, and waits only briefly.
create or replace function wh_heard_elsewhere(p_addresses text[])
returns text[]
language plpgsql
set lock_timeout = '50ms'
as $$
declare
  v_callers text[] := array[current_user::text, session_user::text] || nullif(current_setting('role'), 'none');
  v_heard text[];
  v_elsewhere text[] := '{}';
  v_schema name;
begin
  for v_schema in
    select n.nspname
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
    where p.proname = 'wh_receive' and p.pronargs = 1 and p.proargtypes[0] = 'jsonb'::regtype and p.prosecdef
      and n.nspname <> current_schema()
      and exists (
        select from unnest(v_callers) r
        where has_schema_privilege(r, n.oid, 'usage') and has_function_privilege(r, p.oid, 'execute'))
    order by n.nspname
  loop
    execute format('select %I.wh_listens($1)', v_schema) into v_heard using p_addresses;
    v_elsewhere := v_elsewhere || v_heard;
  end loop;
  return v_elsewhere;
exception
  when others then
    return p_addresses; -- one is older, not granted, broken or locked: it counts as listening
end
$$;
