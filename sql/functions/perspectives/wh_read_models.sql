-- Returns the models of a perspective with these ids, as [{id, model, version, held}]. Without a model: only the held
-- ones.
-- held: the key is held, and nothing may be applied to it. (Held streams are known by their events.)
-- Locks: none
-- Reads by: primary key.
-- Raises: none
-- Called by: perspective-functions.ts
create or replace function wh_read_models(p_name text, p_ids text[])
returns json
language plpgsql stable security definer
set search_path from current
-- Row by row, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  p wh_perspectives;
  v_models json;
begin
  select x.* into p from wh_perspectives x where x.name = p_name;
  if p.kind = 'stream' then
    return wh_stream_models(p, p_ids::uuid[]);
  end if;
  execute format($q$
    select json_agg(json_build_object('id', i.id, 'model', m.data, 'version', coalesce(m.version, 0), 'held', k.held))
    from unnest($1) as i(id)
    left join %I m on m.id = i.id
    left join wh_perspective_checkpoints k on k.stream_id = md5(i.id)::uuid and k.perspective_name = $2 and k.held and k.model_key = i.id
    where m.id is not null or k.held$q$, p.table_name) into v_models using p_ids, p_name;
  return coalesce(v_models, '[]');
end
$$;
