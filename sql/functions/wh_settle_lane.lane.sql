-- Decides what becomes of streams that the caller holds and has locked: nothing left, the row goes; nothing
-- held, the stream is free again; something held, the row stays untouched.
-- The rows were locked by an earlier statement, so this one sees every message that was admitted under the lock
-- before; one committed later is not admitted yet and will open the stream anew. Nothing is stranded.
-- Returns how many went. Reads by wh_{lane}_stream, from the stream's head or the lane's floor.
create or replace function wh_settle_{lane}(c wh_call, p_held wh_held, p_cooling uuid[])
returns int
language plpgsql
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_emptied uuid[];
begin
  if p_held.stream_ids is null then
    return 0;
  end if;
  v_emptied := array(
    select k.stream_id
    from unnest(p_held.stream_ids, p_held.heads) as k(stream_id, head)
    left join lateral (
      select m.sequence_order from wh_{lane} m
      where m.stream_key = k.stream_id and m.sequence_order >= least(k.head, c.{lane}_floor) and m.processed_at is null
      limit 1
    ) f on true
    where f.sequence_order is null
  );
  if v_emptied <> '{}' then
    delete from wh_active_streams s where s.stream_id = any(v_emptied) and s.lane = '{lane}';
  end if;
  if cardinality(v_emptied) < cardinality(p_held.stream_ids) then
    perform wh_free_{lane}(c, p_held.stream_ids, p_cooling);
  end if;
  return cardinality(v_emptied);
end
$$;
