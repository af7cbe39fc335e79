-- Finished messages that have a history, without payload: see docs/operate/history.md. Ask for one message, or for a time of
-- finished_at: of all it takes long.
create or replace view wh_finished_messages as
select h.lane, h.message_id, h.event_type, h.target, h.stream_id, h.sequence_order, h.attempts, h.stored_at, h.finished_at, h.instance_id,
       h.traceparent, h.hops
from wh_history h;
