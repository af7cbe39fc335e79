-- Returns events of a stream in the order of their versions, or backwards, after a version and at most so many.
-- Backwards, they are those before the version.
-- Locks: none
-- Reads by: the unique indexes on (stream_id, version).
-- Raises: none
-- Called by: event-functions.ts, wh_load_stream
create or replace function wh_read_stream(p_stream_id uuid, p_after bigint, p_limit int, p_backwards boolean)
returns setof wh_stored_event
language plpgsql stable security definer
set search_path from current
as $$
begin
  if p_backwards then
    return query
      select e.event_id, e.stream_id, e.version, e.event_type, e.aggregate_type, e.event_data, e.metadata, e.scope, e.sequence_number, e.created_at
      from wh_events e where e.stream_id = p_stream_id and (p_after is null or e.version < p_after)
      order by e.version desc limit p_limit;
  else
    return query
      select e.event_id, e.stream_id, e.version, e.event_type, e.aggregate_type, e.event_data, e.metadata, e.scope, e.sequence_number, e.created_at
      from wh_events e where e.stream_id = p_stream_id and e.version > coalesce(p_after, 0)
      order by e.version limit p_limit;
  end if;
end
$$;
