-- Frees streams, which the call has locked, and blocks them until the time of their first message.
-- The head is exact, so that what arrives behind it is known to change nothing (wh_lower_heads).
-- Locks: none; the call has locked the streams.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_claim_{lane}
create or replace function wh_block_streams(p_lane text, p_stream_ids uuid[], p_heads bigint[], p_until timestamptz[])
returns void
language plpgsql
-- Rows are looked up one by one, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  update wh_active_streams s
  set instance_id = null, lease_expiry = null, held_through = 0, head = b.head, available_at = b.until, is_blocked = true, waits_for = null
  from unnest(p_stream_ids, p_heads, p_until) as b(stream_id, head, until)
  -- "is true" keeps the planner from reading a whole lane by another index than the primary key.
  where s.stream_id = b.stream_id and (s.lane = p_lane) is true;
end
$$;
