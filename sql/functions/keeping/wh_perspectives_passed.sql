-- Whether every perspective has applied the events of a stream, up to this version, which has this sequence number.
-- Asked under the lock of the stream, before its events are archived.
-- There are no perspectives yet, so all of them have.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: wh_archive_stream
create or replace function wh_perspectives_passed(p_stream_id uuid, p_version bigint, p_sequence bigint)
returns boolean
language plpgsql stable
as $$
begin
  return true;
end
$$;
