-- A message to store, as parsed; ord is its place in the caller's array.
create type wh_new_message as (
  ord int,
  message_id uuid,
  target text,
  event_type text,
  event_data jsonb,
  metadata jsonb,
  scope jsonb,
  stream_id uuid,
  is_event boolean,
  scheduled_for timestamptz,
  expected_version bigint,
  stream_key uuid,
  partition_number int,
  -- The inbox message that an outbox message came of: it is stored only if this call's report on that one is accepted.
  only_with uuid,
  -- Higher first; null: 0.
  priority int,
  -- Of a delivery: the message of its stream that was delivered before it though its sender had handed it out later.
  arrived_after uuid
);
