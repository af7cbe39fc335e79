-- The streams to settle: those that the caller reported on, without those that are busy again with new messages,
-- and those made in vain. Touches no table.
create or replace function wh_to_settle(p_held wh_open_stream[], p_busy uuid[], p_unused uuid[])
returns uuid[]
language plpgsql immutable
as $$
begin
  return array(select h.stream_id from unnest(p_held) h except select unnest(p_busy)) || p_unused;
end
$$;
