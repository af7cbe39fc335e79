-- Locks an event stream until the end of the caller's transaction: nobody else appends to it meanwhile. A stream
-- without events is locked too. Returns its version.
-- Locks: a row of wh_event_streams, waiting.
-- Reads by: primary key.
-- Raises: serialization_failure
-- Called by: event-functions.ts
create or replace function wh_lock_stream(p_stream_id uuid)
returns bigint
language plpgsql security definer
set search_path from current
as $$
begin
  return (wh_lock_versions('{}', array[p_stream_id]))[1].version;
end
$$;
