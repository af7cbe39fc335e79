-- The stream `s` has a holder whose lease has run out: anybody may take it, where a cap on partitions leaves room.
-- Included by: wh_lock_due_streams, wh_would_lock
s.lane = p_lane and s.instance_id is not null
      and s.lease_expiry between p_leased_from and c.now
      and (v_capped_to is null or s.partition_number = any(v_capped_to))
