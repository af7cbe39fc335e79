-- Returns all events of the streams that were born next, for a perspective that is built over the events that are
-- there.
-- Only events up to the tick at which it was registered: those after it are read from the log.
-- {mode, tick, upto, swept: how far it will have come; null: no stream is left, events: [event + {announces, held}]}
-- Locks: none
-- Reads by: births by wh_event_store_sequence; events by (stream_id, version).
-- Raises: none
-- Called by: wh_next_batch
create or replace function wh_next_swept(p wh_perspectives, b wh_perspective_bookmarks, p_limit int)
returns json
language plpgsql
as $$
declare
  v_events json;
  v_swept bigint;
begin
  with birth as materialized (
    select e.stream_id, e.sequence_number
    from wh_events e
    where e.sequence_number > b.swept and e.sequence_number <= p.started_high
      and (e.version = 1 or exists (
        select from wh_event_streams d where d.stream_id = e.stream_id and d.deleted_through > 0 and e.version = d.deleted_through + 1))
      and (e.sequence_number <= p.started_restored or e.transaction_id < p.started_next_xid and e.transaction_id <> all(p.started_open))
      and wh_partition(e.stream_id, 10000) between b.from_partition and b.to_partition
    order by e.sequence_number
    limit p_limit
  ), sized as (
    select x.*, sum(v.version) over (order by x.sequence_number) - v.version as events_before
    from birth x join wh_event_streams v on v.stream_id = x.stream_id
  ), taken as materialized (
    -- Many events of few streams come in small parts.
    select s.* from sized s where s.events_before < 10 * p_limit
  )
  select (
      select json_agg(e order by t.sequence_number, e.version)
      from taken t
      cross join lateral (
        select s.event_id, s.stream_id, s.version, s.event_type, s.aggregate_type, s.event_data, s.metadata, s.scope, s.sequence_number,
               s.created_at, false as announces, false as held
        from wh_events s
        where s.stream_id = t.stream_id and s.event_type = any(p.event_types)
          and (s.sequence_number <= p.started_restored or s.transaction_id < p.started_next_xid and s.transaction_id <> all(p.started_open))
        order by s.version
      ) e),
    (select max(t.sequence_number) from taken t)
  into v_events, v_swept;
  return json_build_object('mode', 'sweep', 'tick', b.tick, 'upto', b.upto, 'swept', v_swept, 'events', coalesce(v_events, '[]'));
end
$$;
