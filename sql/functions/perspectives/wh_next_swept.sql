-- Returns all events of the streams that were born next, for a perspective that is built over the events that are
-- there. At most 2 * p_limit events, or 10: a longer stream comes alone, and in parts. (With 5 000 events in one answer
-- instead of 1 000, each costs twice as much: 10 us.)
-- Only events up to the tick at which it was registered: those after it are read from the log.
-- {mode, tick, upto, swept: how far it will have come; null: no stream is left, part: {stream_id, version} of a stream
-- that is read up to this version, events: [event + {announces, held}], models: of their streams, as wh_stream_models}
-- Locks: none
-- Reads by: births by wh_event_store_sequence; events by (stream_id, version); checkpoints and models by primary
--   key.
-- Raises: none
-- Called by: wh_next_batch, wh_read_ahead
create or replace function wh_next_swept(p wh_perspectives, b wh_perspective_bookmarks, p_limit int)
returns json
language plpgsql
as $$
declare
  c_most_events constant bigint := greatest(2 * p_limit, 10);
  s record;
  v_streams uuid[];
  v_room bigint := c_most_events;
  v_swept bigint := case when b.part_stream_id is not null then b.swept end;
  -- Of a stream that comes in parts: which one.
  v_after bigint := 0;
  v_through bigint;
  v_is_held boolean := false;
  v_part json;
  v_events json;
begin
  for s in
    select x.stream_id, x.sequence_number, v.version - v.deleted_through as events
    from (
      select e.stream_id, e.sequence_number
      from wh_events e
      where b.part_stream_id is null and e.sequence_number > b.swept and e.sequence_number <= p.started_high
        and (e.version = 1 or exists (
          select from wh_event_streams d where d.stream_id = e.stream_id and d.deleted_through > 0 and e.version = d.deleted_through + 1))
        and (e.sequence_number <= p.started_restored or e.transaction_id < p.started_next_xid and e.transaction_id <> all(p.started_open))
        and wh_partition(e.stream_id, 10000) between b.from_partition and b.to_partition
      order by e.sequence_number
      limit p_limit
    ) x
    join wh_event_streams v on v.stream_id = x.stream_id
    order by x.sequence_number
  loop
    exit when s.events > v_room and v_streams is not null;
    v_streams := v_streams || s.stream_id;
    v_swept := s.sequence_number;
    v_room := v_room - s.events;
    exit when v_room <= 0;
  end loop;
  if b.part_stream_id is not null or v_room < 0 then
    select array[v.stream_id], greatest(b.part_version, v.deleted_through), v.version,
           exists (select from wh_perspective_checkpoints k where k.stream_id = v.stream_id and k.perspective_name = p.name and k.held)
    into v_streams, v_after, v_through, v_is_held
    from wh_event_streams v
    where v.stream_id = coalesce(b.part_stream_id, v_streams[1]);
    if v_after + c_most_events < v_through then
      v_through := v_after + c_most_events;
      v_part := json_build_object('stream_id', v_streams[1], 'version', v_through);
    end if;
  end if;
  select json_agg(e order by t.nth, e.version)
  into v_events
  from unnest(v_streams) with ordinality as t(stream_id, nth)
  cross join lateral (
    select e.event_id, e.stream_id, e.version, e.event_type, e.aggregate_type, e.event_data, e.metadata, e.scope, e.sequence_number,
           e.created_at, false as announces, v_is_held as held
    from wh_events e
    where e.stream_id = t.stream_id and e.version > v_after and (v_through is null or e.version <= v_through) and e.event_type = any(p.event_types)
      and (e.sequence_number <= p.started_restored or e.transaction_id < p.started_next_xid and e.transaction_id <> all(p.started_open))
    order by e.version
  ) e;
  return json_build_object('mode', 'sweep', 'tick', b.tick, 'upto', b.upto, 'swept', v_swept, 'part', v_part, 'events', coalesce(v_events, '[]'),
    'models', wh_stream_models(p, v_streams));
end
$$;
