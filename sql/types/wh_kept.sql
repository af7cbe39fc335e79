-- Messages that a report has changed, and their streams.
create type wh_kept as (message_ids uuid[], stream_ids uuid[]);
