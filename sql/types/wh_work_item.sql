-- One row of the result: an item newly leased to the caller, or (flag LeaseLost) one it does not hold.
create type wh_work_item as (
  source text,
  message_id uuid,
  stream_id uuid,
  partition_number int,
  destination text,
  event_type text,
  event_data jsonb,
  metadata jsonb,
  scope jsonb,
  status int,
  flags int,
  attempts int,
  sequence_order bigint,
  lease_expiry timestamptz
);
