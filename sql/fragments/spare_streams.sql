-- How many streams of others' partitions the caller may take. One that is alone owns all.
-- Included by: wh_lock_due_streams, wh_would_lock
case when v_instances < 2 then 0 when p_lane = 'outbox' then c.outbox_spare else c.inbox_spare end
