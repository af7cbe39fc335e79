-- The plainly inserted messages that no coordinator has seen, lowest order first: about as many as there is
-- room for, and all of the streams that this call appends events to, so that versions follow the order of the stream.
-- Reads by wh_{lane}_unadmitted and wh_{lane}_stream, from the lane's floor.
create or replace function wh_arrivals_{lane}(c wh_call, p_room int, p_messages wh_new_message[])
returns wh_arrival[]
language plpgsql stable
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_limit int := 2 * least(greatest(p_room, 50), 500);
  v_event_streams uuid[];
  v_arrivals wh_arrival[];
begin
  select array_agg(a::wh_arrival) into v_arrivals
  from (
    select m.message_id, m.stream_key, wh_partition(m.stream_key, c.partition_count), m.sequence_order,
           m.is_event and m.stream_id is not null and m.status & 2 = 0
    from wh_{lane} m
    where m.partition_number is null and m.processed_at is null and m.sequence_order >= c.{lane}_floor
    order by m.sequence_order
    limit v_limit
  ) a;
  if cardinality(v_arrivals) = v_limit then
    v_event_streams := array(select distinct n.stream_id from unnest(p_messages) n where n.is_event and n.stream_id is not null);
    select v_arrivals || coalesce(array_agg(a::wh_arrival), '{}') into v_arrivals
    from (
      select m.message_id, m.stream_key, wh_partition(m.stream_key, c.partition_count), m.sequence_order,
             m.is_event and m.stream_id is not null and m.status & 2 = 0
      from wh_{lane} m
      where m.stream_key = any(v_event_streams) and m.sequence_order > v_arrivals[v_limit].sequence_order
        and m.partition_number is null and m.processed_at is null
      order by m.sequence_order
      limit 10000
    ) a;
  end if;
  return coalesce(v_arrivals, '{}');
end
$$;
