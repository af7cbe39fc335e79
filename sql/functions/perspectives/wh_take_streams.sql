-- Returns all events of these streams that a build has passed, to be folded again from nothing, in the transaction of
-- the caller: {mode, tick, upto, swept, events: [event + {announces, held}], held: [row]}. Until that ends nothing else
-- is stored in the build, and what was read behind its bookmarks before is refused. Null: a bookmark is in use.
-- Of a stream that is held, what was not announced yet is announced.
-- Locks: as wh_lock_bookmarks; checkpoint rows of the streams, by stream.
-- Reads by: bookmarks by primary key; events by (stream_id, version); all ticks.
-- Raises: WB001
-- Called by: build-functions.ts
create or replace function wh_take_streams(p_name text, p_stream_ids uuid[])
returns json
language plpgsql security definer
set search_path from current
set lock_timeout = '2s'
as $$
declare
  p wh_perspectives;
  v_events json;
  v_held json;
begin
  if not wh_lock_bookmarks(array[p_name]) then
    return null;
  end if;
  -- What a sweep has read in parts is done with this.
  update wh_perspective_bookmarks b
  set instance_id = null, lease_expiry = null, fence = b.fence + 1,
      part_stream_id = case when b.part_stream_id = any(p_stream_ids) then null else b.part_stream_id end
  where b.name = p_name;
  select x.* into p from wh_perspectives x where x.name = p_name;
  if p.kind is distinct from 'stream' then
    perform wh_refuse('p_name', format('%s has no model for each stream', p_name));
  end if;
  perform from wh_perspective_checkpoints k
  where k.perspective_name = p_name and k.stream_id = any(p_stream_ids) and k.held
  order by k.stream_id
  for update;
  with passed as materialized (
    select s.stream_id, k.stream_id is not null as is_held, k.attempts,
      case when p.state = any(array['live', 'building']) then greatest(k.last_version, k.quiet_version) end as quiet_version,
      coalesce(k.passed_version, (
        select e.version from wh_events e
        where e.stream_id = s.stream_id and exists (
          select from wh_event_ticks t
          where t.covers @> e.sequence_number and (t.tick < b.tick or t.first_tick <= b.tick and e.sequence_number <= b.upto))
        order by e.version desc
        limit 1)) as version
    from unnest(p_stream_ids) as s(stream_id)
    join wh_perspective_bookmarks b on b.name = p_name and wh_partition(s.stream_id, 10000) between b.from_partition and b.to_partition
    left join wh_perspective_checkpoints k on k.perspective_name = p_name and k.stream_id = s.stream_id and k.held
  )
  select (
      select json_agg(e order by e.stream_id, e.version)
      from (
        select s.event_id, s.stream_id, s.version, s.event_type, s.aggregate_type, s.event_data, s.metadata, s.scope, s.sequence_number,
               s.created_at, coalesce(s.version > x.quiet_version, false) as announces, false as held
        from passed x join wh_events s on s.stream_id = x.stream_id and s.version <= x.version and s.event_type = any(p.event_types)
      ) e),
    (select json_agg(json_build_object('stream_id', x.stream_id, 'attempts', x.attempts, 'is_whole', true)) from passed x where x.is_held)
  into v_events, v_held;
  return json_build_object('mode', 'held', 'tick', 0, 'upto', 0, 'swept', null, 'events', coalesce(v_events, '[]'), 'held', coalesce(v_held, '[]'));
end
$$;
