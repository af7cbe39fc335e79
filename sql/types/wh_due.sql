-- Streams of one lane that the caller may take now: all; those among them whose lease has run out; those that waited at a limit, and
-- the name of the limit of each.
create type wh_due as (stream_ids uuid[], expired uuid[], limited uuid[], limits text[]);
