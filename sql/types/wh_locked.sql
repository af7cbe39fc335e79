-- Streams that a call has locked, with their partitions.
create type wh_locked as (stream_ids uuid[], partitions int[]);
