-- The streams that a call has opened or locked; whether there are some that existed before.
create type wh_opened as (streams wh_open_stream[], has_known boolean);
