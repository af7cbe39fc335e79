-- Returns the events of held streams of a perspective whose retry is due, with the rows that hold them; null: none is.
-- What was skipped is left out, also when the stream is folded again from its beginning.
-- Of a key it is one model at a time: all events behind its place up to the bookmark; its keys are the caller's
-- business. Events of a held stream are left to the retry of that stream.
-- With a limit of 1 it is one event of one stream: then the caller knows which one has failed.
-- {mode, tick, upto, swept, events: [event + {announces, held}], held: [row], through: where the read of a key has
-- ended before the bookmark}
-- Locks: none
-- Reads by: wh_perspective_checkpoints_held; events by (stream_id, version) or as wh_read_events.
-- Raises: none
-- Called by: wh_next_batch
create or replace function wh_next_held(p wh_perspectives, b wh_perspective_bookmarks, p_limit int)
returns json
language plpgsql
as $$
declare
  v_announces boolean := p.state = any(array['live', 'building']);
  v_key wh_perspective_checkpoints;
  v_bookmark_tick bigint := wh_present_tick(b.tick);
  v_announced_tick bigint := wh_present_tick(p.announced_tick);
  v_events json;
  v_held json;
  v_tick bigint;
  v_upto bigint;
  v_through json;
begin
  select k.* into v_key
  from wh_perspective_checkpoints k
  where k.perspective_name = p.name and k.held and k.retry_at <= clock_timestamp()
    and (k.model_key is not null or wh_partition(k.stream_id, 10000) between b.from_partition and b.to_partition)
  order by k.retry_at
  limit 1;
  if not found then
    return null;
  end if;
  if v_key.model_key is not null then
    select coalesce(json_agg(e order by e.tick, e.sequence_number)
             filter (where e.event_id is not null and not e.is_elsewhere and (e.tick, e.sequence_number) <= (v_bookmark_tick, b.upto)), '[]'),
           max(e.tick), max(e.sequence_number) filter (where e.tick = e.last_tick)
    into v_events, v_tick, v_upto
    from (
      select r.*, v_announces and (r.tick, r.sequence_number) > (v_announced_tick, p.announced_upto) as announces, false as held,
             max(r.tick) over () as last_tick,
             exists (
               select from wh_perspective_checkpoints k
               where k.stream_id = r.stream_id and k.perspective_name = p.name and k.held and k.model_key is null and k.last_version < r.version
             ) as is_elsewhere
      from wh_read_events(v_key.held_tick, v_key.held_upto, p.event_types, p_limit) r
    ) e;
    if v_tick is not null and (v_tick, v_upto) < (v_bookmark_tick, b.upto) then
      v_through := json_build_object('tick', v_tick, 'upto', v_upto);
    end if;
    v_held := json_build_array(json_build_object('stream_id', v_key.stream_id, 'model_key', v_key.model_key, 'attempts', v_key.attempts));
  else
    with due as materialized (
      select k.* from wh_perspective_checkpoints k
      where k.perspective_name = p.name and k.held and k.retry_at <= clock_timestamp() and k.model_key is null
        and wh_partition(k.stream_id, 10000) between b.from_partition and b.to_partition
      order by k.retry_at
      limit least(20, p_limit)
    ), event as materialized (
      select e.*
      from due d
      cross join lateral (
        select s.event_id, s.stream_id, s.version, s.event_type, s.aggregate_type, s.event_data, s.metadata, s.scope, s.sequence_number,
               s.created_at, v_announces and s.version > d.quiet_version as announces, false as held
        from wh_events s
        where s.stream_id = d.stream_id and s.version > d.last_version and s.version <= d.passed_version and s.event_type = any(p.event_types)
          and (d.skipped is null or not d.skipped @> jsonb_build_array(jsonb_build_object('event_id', s.event_id)))
        order by s.version
        limit p_limit
      ) e
    )
    select (select coalesce(json_agg(e order by e.stream_id, e.version), '[]') from event e),
           (
             select json_agg(json_build_object('stream_id', d.stream_id, 'attempts', d.attempts, 'last_version', d.last_version,
               'is_whole', (select count(*) < p_limit from event e where e.stream_id = d.stream_id)))
             from due d)
    into v_events, v_held;
  end if;
  return json_build_object('mode', 'held', 'tick', b.tick, 'upto', b.upto, 'swept', b.swept, 'events', v_events, 'held', v_held, 'through', v_through);
end
$$;
