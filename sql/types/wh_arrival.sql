-- A plainly inserted message that no coordinator has seen.
create type wh_arrival as (
  message_id uuid,
  stream_key uuid,
  partition_number int,
  sequence_order bigint,
  appends boolean,
  priority int
);
