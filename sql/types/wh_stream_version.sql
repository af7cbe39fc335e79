-- The version of an event stream.
create type wh_stream_version as (stream_id uuid, version bigint);
