-- The dead letters, without payloads and with the first line of the error. Ask for the newest, or from a number on: those come from the
-- head of an index.
create or replace view wh_dead_letter_list as
select d.dead_letter_id, d.message_id, d.source as lane, d.event_type, d.destination, d.stream_id, d.attempts,
       left(split_part(d.error, e'\n', 1), 500) as error, d.stored_at, d.died_at
from wh_dead_letters d;
