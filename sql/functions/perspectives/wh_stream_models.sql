-- Returns the models of these streams, as [{id, model, version}]; null for a perspective that has none by stream. A
-- batch brings them along: so it needs no statement of its own for them.
-- Locks: none
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_next_logged, wh_next_swept, wh_read_models
create or replace function wh_stream_models(p wh_perspectives, p_stream_ids uuid[])
returns json
language plpgsql stable
as $$
declare
  v_models json;
begin
  if p.kind <> 'stream' then
    return null;
  end if;
  execute format(
    'select json_agg(json_build_object(''id'', m.id, ''model'', m.data, ''version'', m.version)) from %I m where m.id = any($1)',
    p.table_name) into v_models using p_stream_ids;
  return coalesce(v_models, '[]');
end
$$;
