-- A stream that this call has opened or locked; what it may do with messages stored there.
create type wh_open_stream as (
  lane text,
  stream_id uuid,
  fresh boolean,
  held boolean,
  lease_expiry timestamptz,
  head bigint,
  held_through bigint
);
