-- The messages that a call hands out.
create type wh_leased as (outbox uuid[], inbox uuid[]);
