-- Removes those of these streams, which the call has locked, in which nothing is left. Returns how many.
-- An earlier statement locked the rows, so this one has a newer snapshot and sees every message that was admitted under
-- the lock before. A message that is committed later is unadmitted and will open the stream again. So no message is
-- stranded.
-- Locks: none; the call has locked the streams.
-- Reads by: streams by primary key; messages by wh_{lane}_stream, from the stream's head or the first unadmitted
--   message.
-- Raises: none
-- Called by: wh_claim_{lane}
create or replace function wh_close_{lane}(c wh_call, p_stream_ids uuid[])
returns int
language plpgsql
as $$
declare
  v_emptied uuid[] := array(
    select s.stream_id
    from wh_active_streams s
    where s.stream_id = any(p_stream_ids) and s.lane = '{lane}'
      and (
        select m.sequence_order from wh_{lane} m
        where m.stream_key = s.stream_id and {from_first_unfinished}
        limit 1
      ) is null
  );
begin
  if v_emptied <> '{}' then
    delete from wh_active_streams s where s.stream_id = any(v_emptied) and s.lane = '{lane}';
  end if;
  return cardinality(v_emptied);
end
$$;
