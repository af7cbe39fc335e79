-- Stores models of a perspective: [{id, data, version, scope}]. A model whose version is not below the stored one is
-- left as it is. data null: the model has ended. Of an inline perspective such a row stays, because its events come by
-- the log again.
-- The columns beside the model are read from it.
-- Locks: model rows, by id; it waits for an append that has the same model inline.
-- Reads by: primary key.
-- Raises: what a column or a constraint of the table raises.
-- Called by: wh_move_bookmark, wh_store_streams, wh_write_inline
create or replace function wh_write_models(p wh_perspectives, p_models jsonb)
returns void
language plpgsql
as $$
declare
  v_type text := case p.kind when 'keyed' then 'text' else 'uuid' end;
  v_names text;
  v_values text;
  v_sets text;
begin
  select coalesce(string_agg(format(', %I', c.key), '' order by c.key), ''),
         coalesce(string_agg(format(case c.value when 'jsonb' then ', x.data -> %L' else ', (x.data ->> %L)::%s' end, c.key, c.value), '' order by c.key), ''),
         coalesce(string_agg(format(', %1$I = excluded.%1$I', c.key), '' order by c.key), '')
  into v_names, v_values, v_sets
  from jsonb_each_text(p.columns) c;
  execute format($q$
    insert into %1$I as m (id, data, version, scope, updated_at%2$s)
    select x.id, x.data, x.version, x.scope, clock_timestamp()%3$s
    from jsonb_to_recordset($1) as x(id %4$s, data jsonb, version bigint, scope jsonb)
    where x.data is not null or $2
    order by x.id
    on conflict (id) do update
    set data = excluded.data, version = excluded.version, scope = excluded.scope, updated_at = excluded.updated_at%5$s
    where m.version < excluded.version$q$, p.table_name, v_names, v_values, v_type, v_sets) using p_models, p.is_inline;
  if not p.is_inline and p_models @> '[{"data": null}]' then
    execute format($q$
      delete from %1$I m
      using jsonb_to_recordset($1) as x(id %2$s, data jsonb, version bigint)
      where m.id = x.id and x.data is null and m.version < x.version$q$, p.table_name, v_type) using p_models;
  end if;
end
$$;
