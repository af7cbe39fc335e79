-- Leaves streams, which the call has locked, to instances that have a handler for their first message.
-- available_at, since when they wait, stays. The head is exact, so that a late message before it is noticed
-- (wh_lower_heads).
-- Locks: none; the call has locked the streams.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_claim_{lane}
create or replace function wh_leave_streams(p_lane text, p_stream_ids uuid[], p_heads bigint[], p_handlers text[])
returns void
language plpgsql
-- Rows are looked up one by one, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  update wh_active_streams s
  set instance_id = null, lease_expiry = null, held_through = 0, head = l.head, is_blocked = false, waits_for = l.handler
  from unnest(p_stream_ids, p_heads, p_handlers) as l(stream_id, head, handler)
  -- "is true" keeps the planner from reading a whole lane by another index than the primary key.
  where s.stream_id = l.stream_id and (s.lane = p_lane) is true;
end
$$;
