-- The streams that have unfinished work and that nobody holds, for lists: by lane and due_at each kind comes from the head of an index.
-- Kinds: neither waits_for nor is_blocked, due; is_blocked, waiting for their time; waits_for, no handler.
create or replace view wh_waiting_streams as
select s.lane, s.stream_id, s.partition_number, s.available_at as due_at, s.is_blocked, s.waits_for
from wh_active_streams s
where s.instance_id is null;
