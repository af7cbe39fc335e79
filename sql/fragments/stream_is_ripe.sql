-- The stream `s` was blocked until a time that has come, and the caller may take it.
-- Included by: wh_unblock_streams, wh_would_lock, wh_would_lock_ranked
s.lane = p_lane and s.is_blocked and s.available_at between p_free_from and c.now
      and (p_spare > 0 or s.partition_number % p_instances = p_rank
           or s.available_at <= c.now - make_interval(secs => c.takeover_seconds::double precision))
      and (p_capped_to is null or s.partition_number = any(p_capped_to))
