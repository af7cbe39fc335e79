-- Locks the row of a stream; if there is none, it makes one that is due, with p_head as its head. Under the lock nobody
-- takes a message of the stream, nor opens the stream.
-- Its caller has a transaction id by then (see wh_stamp_call).
-- Locks: the stream row, or a new one; it waits for a call that has it or makes it.
-- Reads by: primary key; all instances.
-- Raises: none
-- Called by: wh_bury_{lane}, wh_cancel_{lane}, wh_pause_stream_{lane}, wh_resume_stream_{lane}
create or replace function wh_seize_stream(p_lane text, p_stream_id uuid, p_head bigint)
returns void
language plpgsql
as $$
begin
  loop
    perform from wh_active_streams s where s.stream_id = p_stream_id and s.lane = p_lane for no key update;
    exit when found;
    insert into wh_active_streams (stream_id, lane, partition_number, available_at, head, held_through)
    select p_stream_id, p_lane, wh_partition(p_stream_id, coalesce(max(i.partition_count), 10000)), clock_timestamp(), p_head, 0
    from wh_service_instances i
    on conflict do nothing;
  end loop;
end
$$;
