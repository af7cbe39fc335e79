-- The streams that wait for a time, for a handler, at a limit or because an operator has paused them, with the message
-- that they wait behind. Reason: scheduled (also a retry: then with attempts and the first line of its error), no-handler,
-- limited or paused.
create or replace view wh_blocked_streams as
select s.lane, s.stream_id, s.reason, case when s.waits_for is null then nullif(s.available_at, 'infinity') end as until,
       s.waits_for, m.message_id, m.event_type, m.attempts, split_part(m.error, e'\n', 1) as error
from (
  select s.lane, s.stream_id, s.available_at, s.waits_for,
         case when s.waits_for is not null then {state_of_waiting}
              when s.available_at = 'infinity' then 'paused' else 'scheduled' end as reason
  from wh_active_streams s
  where s.instance_id is null and (s.waits_for is not null or s.is_blocked and s.available_at > clock_timestamp())
) s
left join lateral (
  (select o.message_id, o.event_type, o.attempts, o.error
   from wh_outbox o
   where s.lane = 'outbox' and o.stream_key = s.stream_id and o.processed_at is null and o.sequence_order > {BarOrder}
   order by o.sequence_order limit 1)
  union all
  (select n.message_id, n.event_type, n.attempts, n.error
   from wh_inbox n
   where s.lane = 'inbox' and n.stream_key = s.stream_id and n.processed_at is null and n.sequence_order > {BarOrder}
   order by n.sequence_order limit 1)
) m on true
where s.reason <> 'due';
