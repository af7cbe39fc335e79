-- Writes the caller as the holder of streams that it has locked.
-- p_heads: their first messages. p_through: it holds no message above; the largest number means "all that is there".
-- If the caller already has a fresh lease on the stream, the lease stays, so that no index is written.
-- Locks: none; the call has locked the streams.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_claim_{lane}
create or replace function wh_hold_streams(c wh_call, p_lane text, p_stream_ids uuid[], p_heads bigint[], p_through bigint[])
returns void
language plpgsql
-- Rows are looked up one by one, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  update wh_active_streams s
  set instance_id = c.instance_id, head = t.head, held_through = t.through, is_blocked = false, waits_for = null,
      lease_expiry = case when s.instance_id = c.instance_id and s.lease_expiry >= c.fresh_from then s.lease_expiry else c.lease_expiry end
  from unnest(p_stream_ids, p_heads, p_through) as t(stream_id, head, through)
  -- "is true" keeps the planner from reading a whole lane by another index than the primary key.
  where s.stream_id = t.stream_id and (s.lane = p_lane) is true;
end
$$;
