-- The partition of a stream: the same stream always falls into the same one of p_partition_count.
create or replace function wh_partition(p_stream_key uuid, p_partition_count int)
returns int
language sql immutable parallel safe
as $$
  select (abs(hashtext(p_stream_key::text)::bigint) % p_partition_count)::int
$$;
