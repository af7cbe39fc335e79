-- Writes the new versions of streams whose version rows the call has locked.
-- Locks: none; the rows are locked by the call.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_append_events
create or replace function wh_set_versions(p_stream_ids uuid[], p_versions bigint[])
returns void
language plpgsql
-- Rows are looked up one by one, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  update wh_event_streams e
  set version = u.version
  from unnest(p_stream_ids, p_versions) as u(stream_id, version)
  where e.stream_id = u.stream_id;
end
$$;
