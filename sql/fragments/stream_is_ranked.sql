-- The stream `s` is free and due, has a priority between two numbers, and the caller may take it in this round.
-- Included by: wh_lock_ranked_streams, wh_would_lock_ranked
s.lane = p_lane and s.instance_id is null and s.waits_for is null and not s.is_blocked
        and s.priority is not null and s.priority between p_from and p_to
        and s.stream_id <> all(p_cooling) and s.stream_id <> all(r.stream_ids)
        and (v_round = 1 or s.partition_number % p_instances = p_rank or s.available_at <= p_aged)
        and (p_capped_to is null or s.partition_number = any(p_capped_to))
