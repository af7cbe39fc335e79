-- Makes the view of a perspective show the models of this build. p_is_new: there is none yet, and nothing else may
-- have its name. If its columns are others than before, the view is made anew, with the grants that it had.
-- Locks: the view, exclusively: it waits for queries that read it.
-- Reads by: no table
-- Raises: duplicate_table if the name is taken by a table, dependent_objects_still_exist
-- Called by: wh_build_perspective, wh_switch_over
create or replace function wh_point_view(p wh_perspectives, p_is_new boolean)
returns void
language plpgsql
as $$
declare
  v_text text := format('view %I as select id, data, version, updated_at%s from %I where data is not null', p.base_name,
    (select coalesce(string_agg(format(', %I', c.key), '' order by c.key), '') from jsonb_each_text(p.columns) c), p.table_name);
  v_grants text := (
    select string_agg(format('grant %s on %I to %s', a.privilege_type, p.base_name,
      case a.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end), '; ')
    from pg_class c cross join aclexplode(c.relacl) a
    where c.oid = to_regclass(quote_ident(p.base_name)));
begin
  if p_is_new then
    execute 'create ' || v_text;
  else
    begin
      execute 'create or replace ' || v_text;
    exception
      when invalid_table_definition then
        execute format('drop view %I', p.base_name);
        execute 'create ' || v_text;
        execute coalesce(v_grants, '');
    end;
  end if;
  execute format('grant select on %I to %I', p.base_name, session_user);
end
$$;
