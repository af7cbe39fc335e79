-- Each stream that has unfinished work: who holds it, or since when it could run, or what it waits for; its first message, and how
-- many wait in it (counted up to 1 001). Ask for one stream at a time, as wh_waiting_streams finds them: to sort all takes long.
create or replace view wh_stream_status as
select s.lane, s.stream_id, s.partition_number,
       case when s.instance_id is not null and s.lease_expiry > clock_timestamp() then 'held'
            when s.instance_id is not null then 'orphaned'
            when s.waits_for is not null then {state_of_waiting}
            when s.is_blocked and s.available_at = 'infinity' then 'paused'
            when s.is_blocked and s.available_at > clock_timestamp() then 'scheduled'
            when s.lane = 'inbox' and {intake_is_paused} then 'paused'
            else 'due' end as state,
       case when s.instance_id is null then nullif(s.available_at, 'infinity') end as due_at,
       s.instance_id as held_by, s.lease_expiry, s.waits_for, m.message_id as first_message_id, m.event_type as first_type,
       m.attempts as first_attempts, m.stored_at as first_stored_at, m.error as first_error, m.depth
from wh_active_streams s
cross join lateral (
  select (array_agg(w.message_id order by w.sequence_order))[1] as message_id, (array_agg(w.event_type order by w.sequence_order))[1] as event_type,
         (array_agg(w.attempts order by w.sequence_order))[1] as attempts, (array_agg(w.stored_at order by w.sequence_order))[1] as stored_at,
         split_part((array_agg(w.error order by w.sequence_order))[1], e'\n', 1) as error, count(*) as depth
  from (
    (select m.message_id, m.event_type, m.attempts, m.created_at as stored_at, m.error, m.sequence_order
     from wh_outbox m
     where s.lane = 'outbox' and m.stream_key = s.stream_id and m.processed_at is null and m.sequence_order > {BarOrder}
     order by m.sequence_order limit 1001)
    union all
    (select m.message_id, m.event_type, m.attempts, m.received_at, m.error, m.sequence_order
     from wh_inbox m
     where s.lane = 'inbox' and m.stream_key = s.stream_id and m.processed_at is null and m.sequence_order > {BarOrder}
     order by m.sequence_order limit 1001)
  ) w
) m;
