-- Returns the streams to settle: those that the caller reported on, without those that are busy again with new
-- messages, and those that were opened and not used.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: process_work_batch
create or replace function wh_pick_streams_to_settle(p_held wh_open_stream[], p_busy uuid[], p_unused uuid[])
returns uuid[]
language plpgsql immutable
as $$
begin
  if cardinality(p_held) = 1 and coalesce(p_busy = '{}', true) then
    return p_held[1].stream_id || p_unused;
  end if;
  return array(select h.stream_id from unnest(p_held) h except select unnest(p_busy)) || p_unused;
end
$$;
