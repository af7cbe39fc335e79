-- Events to append, in their order, as columns: an array of rows would be copied once for every column that is read.
create type wh_new_events as (
  event_ids uuid[],
  stream_ids uuid[],
  event_types text[],
  event_data jsonb[],
  metadata jsonb[],
  scopes jsonb[],
  -- Null where the writer has no expectation.
  expected_versions bigint[]
);
