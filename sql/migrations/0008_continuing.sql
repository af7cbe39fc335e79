-- Whether new messages may be leased to the caller behind those of their stream that it still holds.
alter type wh_call add attribute continues boolean;

-- The call, and what a look at the unadmitted messages of both lanes came to.
create type wh_seen as (call wh_call, outbox wh_arrived, inbox wh_arrived);

-- The messages that a call hands out.
create type wh_leased as (outbox uuid[], inbox uuid[]);
