-- The stream `s` is free and waits for the handler, or at the limit, of this name.
-- Included by: wh_lock_waiting_streams, wh_would_wait
s.lane = p_lane and s.instance_id is null and s.waits_for = v_name
        and (p_capped_to is null or s.partition_number = any(p_capped_to))
