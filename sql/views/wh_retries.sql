-- The streams whose first message has failed and waits for its next attempt, with the first line of its error. Ask for one lane by
-- retry_at: those that are tried soonest come from the head of an index.
create or replace view wh_retries as
select s.lane, s.stream_id, s.available_at as retry_at, m.message_id, m.event_type, m.attempts, left(split_part(m.error, e'\n', 1), 500) as error
from wh_active_streams s
cross join lateral (
  (select o.message_id, o.event_type, o.attempts, o.error
   from wh_outbox o
   where s.lane = 'outbox' and o.stream_key = s.stream_id and o.processed_at is null
   order by o.sequence_order limit 1)
  union all
  (select n.message_id, n.event_type, n.attempts, n.error
   from wh_inbox n
   where s.lane = 'inbox' and n.stream_key = s.stream_id and n.processed_at is null
   order by n.sequence_order limit 1)
) m
where s.is_blocked and s.available_at < 'infinity' and m.attempts > 0;
