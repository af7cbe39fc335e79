-- Decides what becomes of streams that the caller holds and has locked: nothing left, the row goes; nothing
-- held, the stream is free again; something held, the row stays untouched. Returns how many went.
create or replace function wh_settle_{lane}(c wh_call, p_stream_ids uuid[], p_cooling uuid[])
returns int
language plpgsql
as $$
declare
  v_closed int;
begin
  if p_stream_ids = '{}' then
    return 0;
  end if;
  v_closed := wh_close_{lane}(c, p_stream_ids);
  if v_closed < cardinality(p_stream_ids) then
    perform wh_free_{lane}(c, p_stream_ids, p_cooling);
  end if;
  return v_closed;
end
$$;
