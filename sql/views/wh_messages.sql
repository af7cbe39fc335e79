-- Unfinished messages, dead letters and timers, without payload: where each is kept, and what it says of the way that it came. Ask
-- for one message, for one stream by sequence_order, or for the newest by message_id: of all it takes long.
create or replace view wh_messages as
select 'outbox' as kept_in, m.message_id, m.event_type, m.destination as target, m.stream_key as stream_id, m.sequence_order, m.attempts,
       m.created_at as stored_at, m.scheduled_for, split_part(m.error, e'\n', 1) as error,
       m.metadata ->> 'correlationId' as correlation_id, m.metadata ->> 'causationId' as causation_id,
       m.metadata ->> 'traceparent' as traceparent, m.metadata -> 'hops' as hops
from wh_outbox m
where m.processed_at is null and m.sequence_order > {BarOrder}
union all
select 'inbox', m.message_id, m.event_type, m.handler_name, m.stream_key, m.sequence_order, m.attempts,
       m.received_at, m.scheduled_for, split_part(m.error, e'\n', 1),
       m.metadata ->> 'correlationId', m.metadata ->> 'causationId', m.metadata ->> 'traceparent', m.metadata -> 'hops'
from wh_inbox m
where m.processed_at is null and m.sequence_order > {BarOrder}
union all
select 'dead letters', d.message_id, d.event_type, d.destination, d.stream_id, d.sequence_order, d.attempts,
       d.stored_at, null, split_part(d.error, e'\n', 1),
       d.metadata ->> 'correlationId', d.metadata ->> 'causationId', d.metadata ->> 'traceparent', d.metadata -> 'hops'
from wh_dead_letters d
union all
select 'timers', t.message_id, t.event_type, t.destination, t.stream_id, null, 0,
       t.created_at, t.due_at, null,
       t.metadata ->> 'correlationId', t.metadata ->> 'causationId', t.metadata ->> 'traceparent', t.metadata -> 'hops'
from wh_timers t;
