-- The call, and what a look at the unadmitted messages of both lanes came to.
create type wh_seen as (call wh_call, outbox wh_arrived, inbox wh_arrived);
