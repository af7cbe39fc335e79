-- Returns whether a perspective has applied an event, given by its place in its stream: it is in a tick at or below the
-- bookmark, or no tick between the bookmark and it has a type of the perspective.
-- p_keys: the keys of the models that it concerns; null: it is of the model of its stream.
-- {state: of the build, null: there is none, is_stored, is_applied, held: {stream_id, key, version, event, error}}
-- Locks: none
-- Reads by: primary keys; ticks newest first, while they may have the event.
-- Raises: none
-- Called by: model-functions.ts
create or replace function wh_event_progress(p_code text, p_stream_id uuid, p_version bigint, p_keys text[] default null)
returns json
language plpgsql stable security definer
set search_path from current
-- Row by row, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set jit = off set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  c_most_ticks constant int := 200;
  p wh_perspectives := wh_find_build(p_code);
  b wh_perspective_bookmarks;
  k wh_perspective_checkpoints;
  t wh_event_ticks;
  v_number bigint := (select s.sequence_number from wh_events s where s.stream_id = p_stream_id and s.version = p_version);
  v_is_sealed boolean := false;
  v_is_applied boolean := false;
  v_held json;
begin
  if p.name is null or v_number is null then
    return json_build_object('state', p.state, 'is_stored', v_number is not null, 'is_applied', false);
  end if;
  -- The running maximum says when to stop: ticks before it have lower numbers only.
  for t in select x.* from wh_event_ticks x order by x.tick desc loop
    exit when t.high < v_number;
    v_is_sealed := t.covers @> v_number;
    exit when v_is_sealed;
  end loop;
  select x.* into b
  from wh_perspective_bookmarks x
  where x.name = p.name and x.from_partition = (select max(c) from unnest(p.cuts) c where c <= wh_partition(p_stream_id, 10000))
  order by x.tick desc, x.upto desc
  limit 1;
  if v_is_sealed and b.swept is null then
    v_is_applied := t.tick < b.tick or t.first_tick <= b.tick and v_number <= b.upto or (
      select count(*) < c_most_ticks and bool_or(n.types && p.event_types) is not true
      from (
        select x.types from wh_event_ticks x
        where x.tick >= b.tick and (x.first_tick > b.tick or x.covers && int8range(b.upto, null, '()')) and x.first_tick <= t.tick
        order by x.tick
        limit c_most_ticks
      ) n);
  end if;
  select x.* into k
  from wh_perspective_checkpoints x
  where x.perspective_name = p.name and x.held and (
    x.stream_id = p_stream_id and x.model_key is null and x.last_version < p_version
    or x.stream_id = any(array(select md5(y)::uuid from unnest(p_keys) y)) and x.model_key = any(p_keys)
      and not (t.tick < x.held_tick or t.first_tick <= x.held_tick and v_number <= x.held_upto))
  order by x.held_since
  limit 1;
  if found then
    v_is_applied := false;
    -- If it was skipped, or a retry has come further, what is behind it is on its way.
    if k.failed_version > k.last_version then
      v_held := json_build_object('stream_id', k.stream_id, 'key', k.model_key, 'version', k.failed_version, 'event', k.failed_type, 'error', k.error);
    end if;
  end if;
  return json_build_object('state', p.state, 'is_stored', true, 'is_applied', v_is_applied, 'held', v_held);
end
$$;
