-- Compares the models of two builds of a perspective, for the next p_limit ids behind p_after. Returns {models: [{id,
-- version, other_version, model, other_model}], after: the last id that was looked at; null: there are no more}.
-- p_is_equal true: those of equal version that differ, which is a difference of the code or a mistake. False: those of
-- different versions: one build may just be further.
-- Locks: none
-- Reads by: primary key of both tables.
-- Raises: WB001
-- Called by: build-functions.ts
create or replace function wh_diff_models(p_name text, p_other text, p_is_equal boolean, p_after text, p_limit int)
returns json
language plpgsql stable security definer
set search_path from current
as $$
declare
  p wh_perspectives;
  o wh_perspectives;
  v_type text;
  v_models json;
  v_after text;
  v_count int;
begin
  select x.* into p from wh_perspectives x where x.name = p_name;
  select x.* into o from wh_perspectives x where x.name = p_other;
  if p.table_name is null or o.table_name is null or p.kind <> o.kind then
    perform wh_refuse('p_name', format('%s and %s have no models that can be compared', p_name, p_other));
  end if;
  v_type := case p.kind when 'keyed' then 'text' else 'uuid' end;
  execute format($q$
    with id as materialized (
      select x.id from (
        (select a.id from %1$I a where a.id > $1::%3$s or $1 is null order by a.id limit $2)
        union (select b.id from %2$I b where b.id > $1::%3$s or $1 is null order by b.id limit $2)) x
      order by x.id
      limit $2
    )
    select json_agg(json_build_object('id', i.id, 'version', a.version, 'other_version', b.version, 'model', a.data, 'other_model', b.data) order by i.id)
             filter (where a.data is distinct from b.data and $3 = (a.version is not distinct from b.version)),
           (array_agg(i.id::text order by i.id desc))[1], count(*)
    from id i
    left join %1$I a on a.id = i.id
    left join %2$I b on b.id = i.id$q$, p.table_name, o.table_name, v_type)
  into v_models, v_after, v_count using p_after, p_limit, p_is_equal;
  return json_build_object('models', coalesce(v_models, '[]'), 'after', case when v_count = p_limit then v_after end);
end
$$;
