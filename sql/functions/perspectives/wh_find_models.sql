-- Returns models of a perspective by its columns.
-- p_query: {where: {column: value | [values] | null}, order: [[column, asc | desc]], limit, after: {values, id}}. The
-- order ends with the id; what is null comes last. after: the values and the id of the last model of the page before.
-- {state: of the build, null: there is none, models: [{id, model, version, values: those of the order, as text}]}
-- Only names of columns that the perspective declares become part of the statement; all values are parameters.
-- Locks: none
-- Reads by: the indexes of the perspective.
-- Raises: WB001; data_exception for a value that is not of the column's type.
-- Called by: model-functions.ts
create or replace function wh_find_models(p_code text, p_query jsonb)
returns json
language plpgsql stable security definer
set search_path from current
set datestyle = 'ISO, YMD'
as $$
declare
  p wh_perspectives := wh_find_build(p_code);
  v_bad text;
  v_where text;
  v_order text;
  v_values text;
  v_after text;
  v_models json;
begin
  if p.table_name is null then
    return json_build_object('state', p.state, 'models', json_build_array());
  end if;
  select n.name into v_bad
  from (
    select jsonb_object_keys(p_query -> 'where') as name union all select o ->> 0 from jsonb_array_elements(p_query -> 'order') o
  ) n
  where not p.columns ? n.name
  limit 1;
  if v_bad is not null then
    perform wh_refuse(format('p_query.%s', v_bad), format('is not a column of %s', p.name));
  end if;
  select string_agg(case
      when jsonb_typeof(w.value) = 'null' then format(' and m.%I is null', w.key)
      when jsonb_typeof(w.value) = 'array' and c.type = 'jsonb'
        then format(' and m.%1$I = any(array(select jsonb_array_elements($1 -> ''where'' -> %1$L)))', w.key)
      when jsonb_typeof(w.value) = 'array'
        then format(' and m.%1$I = any(array(select jsonb_array_elements_text($1 -> ''where'' -> %1$L))::%2$s[])', w.key, c.type)
      when c.type = 'jsonb' then format(' and m.%1$I = $1 -> ''where'' -> %1$L', w.key)
      else format(' and m.%1$I = ($1 -> ''where'' ->> %1$L)::%2$s', w.key, c.type)
    end, '')
  into v_where
  from jsonb_each(p_query -> 'where') w
  cross join lateral (select p.columns ->> w.key as type) c;
  with sorted as (
    select o.place, o.item ->> 0 as name, o.item ->> 1 = 'desc' as is_down,
           format('($1 #>> ''{after,values,%s}'')::%s', o.place - 1, p.columns ->> (o.item ->> 0)) as value
    from jsonb_array_elements(p_query -> 'order') with ordinality as o(item, place)
  ), step as (
    select s.place, format('m.%I is not distinct from %s', s.name, s.value) as is_same,
           format('(m.%1$I %2$s %3$s or m.%1$I is null and %3$s is not null)', s.name, case when s.is_down then '<' else '>' end, s.value) as is_behind
    from sorted s
    union all
    select {LargestInt}, null, format('m.id > ($1 #>> ''{after,id}'')::%s', case p.kind when 'keyed' then 'text' else 'uuid' end)
  )
  select (select string_agg(format('m.%I %s nulls last, ', s.name, case when s.is_down then 'desc' else 'asc' end), '' order by s.place) from sorted s),
         (select string_agg(format('m.%I::text', s.name), ', ' order by s.place) from sorted s),
         string_agg(concat_ws(' and ', (select string_agg(y.is_same, ' and ' order by y.place) from step y where y.place < x.place), x.is_behind),
           ' or ' order by x.place)
  into v_order, v_values, v_after
  from step x;
  execute format($q$
    select json_agg(r) from (
      select m.id, m.data as model, m.version, array[%s]::text[] as values from %I m
      where m.data is not null%s%s
      order by %sm.id
      limit ($1 ->> 'limit')::int
    ) r$q$, v_values, p.table_name, v_where, case when p_query ? 'after' then format(' and (%s)', v_after) end, v_order)
  into v_models using p_query;
  return json_build_object('state', p.state, 'models', coalesce(v_models, '[]'));
end
$$;
