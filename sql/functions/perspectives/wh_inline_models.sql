-- Returns what inline perspectives need to bring their models of these streams up to date, in the caller's transaction:
-- [{name, code, streams: [{id, model, version, events}]}]. events: those of its types above the version of the model,
-- without what was skipped.
-- A stream with more than 1 000 of them is left out, and so left to the perspective's own batches.
-- Locks: none; the caller has the version rows of the streams, or has appended to none.
-- Reads by: all rows of wh_perspectives; models and checkpoints by primary key; events by (stream_id, version).
-- Raises: none
-- Called by: perspective-functions.ts
create or replace function wh_inline_models(p_codes text[], p_stream_ids uuid[])
returns json
language plpgsql stable security definer
set search_path from current
-- Row by row, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  c_most_events constant int := 1000;
  p wh_perspectives;
  v_streams json;
  v_all json[] := '{}';
begin
  for p in select x.* from wh_perspectives x where x.is_inline and x.code = any(p_codes) order by x.name loop
    execute format($q$
      select json_agg(json_build_object('id', s.id, 'model', m.data, 'version', coalesce(m.version, 0), 'events', e.events))
      from unnest($1) as s(id)
      left join %I m on m.id = s.id
      left join wh_perspective_checkpoints k on k.stream_id = s.id and k.perspective_name = $4
      cross join lateral (
        select json_agg(x order by x.version) as events, count(*) as events_count
        from (
          select e.event_id, e.stream_id, e.version, e.event_type, e.aggregate_type, e.event_data, e.metadata, e.scope, e.sequence_number, e.created_at
          from wh_events e
          where e.stream_id = s.id and e.version > greatest(m.version, k.last_version, 0) and e.event_type = any($2)
            and (k.skipped is null or not k.skipped @> jsonb_build_array(jsonb_build_object('event_id', e.event_id)))
          order by e.version
          limit $3 + 1
        ) x
      ) e
      where e.events_count between 1 and $3$q$, p.table_name) into v_streams using p_stream_ids, p.event_types, c_most_events, p.name;
    if v_streams is not null then
      v_all := v_all || json_build_object('name', p.name, 'code', p.code, 'streams', v_streams);
    end if;
  end loop;
  return array_to_json(v_all);
end
$$;
