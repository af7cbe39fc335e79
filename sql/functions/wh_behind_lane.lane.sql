-- Of these event streams: those with events that are not appended yet outside this call's arrivals, before the first
-- of them or (p_after) after the last. An event that is appended now would overtake those.
-- Reads by wh_{lane}_stream, from the lane's floor.
create or replace function wh_behind_{lane}(c wh_call, p_stream_ids uuid[], p_arrivals wh_arrival[], p_after boolean)
returns uuid[]
language plpgsql stable
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_first bigint := coalesce(p_arrivals[1].sequence_order, 0);
  v_last bigint := coalesce(p_arrivals[cardinality(p_arrivals)].sequence_order, 0);
begin
  return array(
    select k.stream_id
    from unnest(p_stream_ids) as k(stream_id)
    cross join lateral (
      select 1 from wh_{lane} m
      where m.stream_key = k.stream_id and m.sequence_order >= c.{lane}_floor and m.processed_at is null
        and (m.partition_number is null) is true and m.is_event and m.status & 2 = 0
        and (m.sequence_order < v_first or p_after and m.sequence_order > v_last)
      limit 1
    ) f
  );
end
$$;
