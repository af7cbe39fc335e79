-- An event at its place in the order of all events. Without an event_id: how far a read has looked.
create type wh_ticked_event as (
  tick bigint,
  sequence_number bigint,
  event_id uuid,
  stream_id uuid,
  version bigint,
  event_type text,
  aggregate_type text,
  event_data jsonb,
  metadata jsonb,
  scope jsonb,
  created_at timestamptz
);
