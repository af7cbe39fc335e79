-- Streams that a call has locked, with their partitions; those among them that waited at a limit, with its name.
create type wh_locked as (stream_ids uuid[], partitions int[], limited uuid[], limits text[]);
