-- Returns the arrivals of the inbox together with the events that wait there to be appended, in streams from which
-- events leave. What leaves must not be appended before them, and must not wait until an instance has room for them.
-- Locks: none
-- Reads by: wh_inbox_stream, from the lane's floor.
-- Raises: none
-- Called by: process_work_batch, wh_would_admit
create or replace function wh_with_own_events(c wh_call, p_leaving wh_new_message[], p_outbox_arrivals wh_arrival[], p_inbox_arrivals wh_arrival[])
returns wh_arrival[]
language plpgsql stable
as $$
declare
  v_stream_ids uuid[] := array(
    select m.stream_id from unnest(p_leaving) m where m.is_event and m.stream_id is not null
    union select a.stream_key from unnest(p_outbox_arrivals) a where a.appends);
  v_own_events wh_arrival[];
begin
  if v_stream_ids = '{}' then
    return p_inbox_arrivals;
  end if;
  v_own_events := array(
    select (m.message_id, m.stream_key, wh_partition(m.stream_key, c.partition_count), m.sequence_order, true, {priority})::wh_arrival
    from unnest(v_stream_ids) as k(stream_id)
    -- One index search per stream; see docs/internals/mechanism.md#plans-that-hold
    cross join lateral (
      select * from wh_inbox x
      where x.stream_key = k.stream_id and x.sequence_order >= c.inbox_floor and x.processed_at is null
        and (x.partition_number is null) is true and x.is_event and x.stream_id is not null and x.status & {EventStored} = 0
      order by x.sequence_order
      limit 500
    ) m
    order by m.sequence_order);
  if v_own_events = '{}' then
    return p_inbox_arrivals;
  end if;
  return array(
    select a::wh_arrival from (select * from unnest(p_inbox_arrivals) union select * from unnest(v_own_events)) a order by a.sequence_order);
end
$$;
