-- Streams of one lane that the caller may take now: all, and those among them whose lease has run out.
create type wh_due as (stream_ids uuid[], expired uuid[]);
