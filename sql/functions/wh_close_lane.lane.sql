-- Removes those of these streams, which the caller has locked, in which nothing is left. Returns how many.
-- In two statements: one takes the lock that excludes whoever is storing there, of the streams that look empty; the
-- next sees, with a new snapshot, every message that was admitted before. One committed later is not admitted and will
-- open the stream anew. Nothing is stranded.
-- Locks: stream rows, skip locked. Reads by primary key, then by wh_{lane}_stream from the stream's head.
create or replace function wh_close_{lane}(c wh_call, p_stream_ids uuid[])
returns int
language plpgsql
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_stream_ids uuid[];
  v_heads bigint[];
  v_emptied uuid[];
begin
  select array_agg(k.stream_id), array_agg(k.head) into v_stream_ids, v_heads
  from (
    select s.stream_id, s.head
    from wh_active_streams s
    where s.stream_id = any(p_stream_ids) and s.lane = '{lane}'
      and (
        select m.sequence_order from wh_{lane} m
        where m.stream_key = s.stream_id and m.sequence_order >= s.head and m.processed_at is null
        limit 1
      ) is null
    for update skip locked
  ) k;
  if v_stream_ids is null then
    return 0;
  end if;
  v_emptied := array(
    select k.stream_id
    from unnest(v_stream_ids, v_heads) as k(stream_id, head)
    left join lateral (
      select m.sequence_order from wh_{lane} m
      where m.stream_key = k.stream_id and m.sequence_order >= k.head and m.processed_at is null
      limit 1
    ) f on true
    where f.sequence_order is null
  );
  if v_emptied <> '{}' then
    delete from wh_active_streams s where s.stream_id = any(v_emptied) and s.lane = '{lane}';
  end if;
  return cardinality(v_emptied);
end
$$;
