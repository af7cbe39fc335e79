-- What the reports on one lane came to: messages that the caller does not hold, streams that give nothing out in this
-- call, what was finished, and the messages that were reported on and are left to be handed out again.
create type wh_reported as (lost uuid[], cooling uuid[], finished wh_finished, kept uuid[]);
