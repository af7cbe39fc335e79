-- Messages that a call has finished, with their streams and their places in them. Null: none.
create type wh_finished as (message_ids uuid[], stream_ids uuid[], orders bigint[]);
