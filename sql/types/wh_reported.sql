-- What the reports on one lane came to: messages that the caller does not hold, and streams that give nothing
-- out in this call.
create type wh_reported as (lost uuid[], cooling uuid[]);
