-- Returns the partition of a stream: always the same one of p_partition_count.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: wh_arrivals_beyond_{lane}, wh_arrivals_{lane}, wh_event_progress, wh_few_arrivals_{lane},
--   wh_finish_one_{lane}, wh_finish_{lane}, wh_lease_{lane}, wh_next_held, wh_next_logged, wh_next_swept,
--   wh_parse_messages, wh_seize_stream, wh_split_bookmark, wh_take_few_{lane}, wh_take_streams, wh_with_own_events,
--   wh_with_ranked_{lane}
create or replace function wh_partition(p_stream_key uuid, p_partition_count int)
returns int
language sql immutable parallel safe
as $$
  select (abs(hashtext(p_stream_key::text)::bigint) % p_partition_count)::int
$$;
