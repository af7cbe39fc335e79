-- Returns the receipts of stored events in the order of the ids: [{event_id, stream_id, version, sequence_number}].
-- Locks: none
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_append
create or replace function wh_receipts(p_event_ids uuid[])
returns json
language sql stable
as $$
  select json_agg(json_build_object('event_id', s.event_id, 'stream_id', s.stream_id, 'version', s.version, 'sequence_number', s.sequence_number) order by u.ord)
  from unnest(p_event_ids) with ordinality as u(event_id, ord)
  -- One index search per event; see docs/internals/mechanism.md#plans-that-hold
  cross join lateral (select * from wh_events x where x.event_id = u.event_id limit 1) s
$$;
