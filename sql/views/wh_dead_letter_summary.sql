-- The newest 100 000 dead letters by lane, type and the first line of the error.
create or replace view wh_dead_letter_summary as
select d.source as lane, d.event_type, d.destination, left(split_part(d.error, e'\n', 1), 200) as error, count(*) as letters,
       min(d.died_at) as first_died_at, max(d.died_at) as last_died_at, (array_agg(d.message_id order by d.dead_letter_id desc))[1] as last_message_id
from (select * from wh_dead_letters order by dead_letter_id desc limit 100000) d
group by d.source, d.event_type, d.destination, left(split_part(d.error, e'\n', 1), 200);
