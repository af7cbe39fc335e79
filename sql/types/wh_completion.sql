-- The messages that the caller reports as completed with one and the same status.
create type wh_completion as (status int, message_ids uuid[]);
