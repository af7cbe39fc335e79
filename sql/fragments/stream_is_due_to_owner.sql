-- The same, for what the caller takes beyond what it could begin at once.
-- Included by: wh_lock_due_streams, wh_would_lock
s.lane = p_lane and s.instance_id is null and s.waits_for is null and not s.is_blocked and s.priority is null
        and s.available_at >= p_free_from
        and s.stream_id <> all(v_cooling)
        and (s.partition_number % v_instances = v_rank
             or s.available_at <= v_aged)
        and (v_capped_to is null or s.partition_number = any(v_capped_to))
        and s.stream_id <> all(v_free)
