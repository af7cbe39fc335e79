-- The events of these streams that wait in the inbox to be appended to the event store, as arrivals: what leaves must not be appended before them, and
-- must not wait until somebody has room for them.
-- Reads by wh_inbox_stream, from the lane's floor.
create or replace function wh_own_events(c wh_call, p_stream_ids uuid[])
returns wh_arrival[]
language plpgsql stable
as $$
begin
  if p_stream_ids = '{}' then
    return '{}';
  end if;
  return array(
    select (m.message_id, m.stream_key, wh_partition(m.stream_key, c.partition_count), m.sequence_order, true)::wh_arrival
    from unnest(p_stream_ids) as k(stream_id)
    cross join lateral (
      select * from wh_inbox x
      where x.stream_key = k.stream_id and x.sequence_order >= c.inbox_floor and x.processed_at is null
        and (x.partition_number is null) is true and x.is_event and x.stream_id is not null and x.status & {EventStored} = 0
      order by x.sequence_order
      limit 500
    ) m
    order by m.sequence_order);
end
$$;
