-- Returns a model of a perspective and, if p_types is not null, the events of these types in its stream that are not in
-- the model, at most p_limit. In one snapshot, so that both belong together.
-- The events are read if p_with_events, or if the build is not to be queried yet: then its model is folded from them.
-- {state: of the build, null: there is none, model, version: up to which it has the events, stream_version, skipped:
-- [versions that somebody has skipped], events}
-- Locks: none
-- Reads by: primary keys; all rows of wh_perspectives; events by (stream_id, version).
-- Raises: none
-- Called by: model-functions.ts
create or replace function wh_load_model(p_code text, p_id text, p_types text[], p_with_events boolean, p_limit int)
returns json
language plpgsql stable security definer
set search_path from current
-- Row by row, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set jit = off set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  p record;
  k wh_perspective_checkpoints;
  v_model jsonb;
  v_version bigint;
  v_stream_version bigint;
  v_events json;
begin
  -- Mostly it is live: wh_find_build takes 25 µs longer, a twelfth of a read.
  select x.name, x.kind, x.state, x.table_name into p from wh_perspectives x where x.code = p_code and x.state = 'live';
  if not found then
    select x.name, x.kind, x.state, x.table_name into p from wh_find_build(p_code) x;
  end if;
  if p.table_name is not null then
    execute format('select m.data, m.version from %I m where m.id = $1::%s', p.table_name, case p.kind when 'keyed' then 'text' else 'uuid' end)
    into v_model, v_version using p_id;
  end if;
  if p_types is null or not p_with_events and p.state = any(array['live', 'retired']) then
    return json_build_object('state', p.state, 'model', v_model, 'version', coalesce(v_version, 0));
  end if;
  v_stream_version := (select x.version from wh_event_streams x where x.stream_id = p_id::uuid);
  if v_stream_version <= v_version then
    -- Mostly it is up to date: nothing else has to be looked at.
    return json_build_object('state', p.state, 'model', v_model, 'version', v_version, 'events', json_build_array(),
      'stream_version', v_stream_version, 'skipped', json_build_array());
  end if;
  select x.* into k from wh_perspective_checkpoints x where x.stream_id = p_id::uuid and x.perspective_name = p.name;
  v_version := greatest(v_version, k.last_version, 0);
  select json_agg(e order by e.version) into v_events
  from (
    select s.event_id, s.stream_id, s.version, s.event_type, s.aggregate_type, s.event_data, s.metadata, s.scope, s.sequence_number, s.created_at
    from wh_events s
    where s.stream_id = p_id::uuid and s.version > v_version and s.event_type = any(p_types)
    order by s.version
    limit p_limit
  ) e;
  return json_build_object('state', p.state, 'model', v_model, 'version', v_version, 'events', coalesce(v_events, '[]'),
    'stream_version', coalesce(v_stream_version, 0),
    'skipped', coalesce((select json_agg(x -> 'version') from jsonb_array_elements(k.skipped) x), '[]'));
end
$$;
