-- An event of the event store, as it is read.
create type wh_stored_event as (
  event_id uuid,
  stream_id uuid,
  version bigint,
  event_type text,
  aggregate_type text,
  event_data jsonb,
  metadata jsonb,
  scope jsonb,
  sequence_number bigint,
  created_at timestamptz
);
