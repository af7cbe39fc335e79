-- Frees these streams, which the caller holds and has locked. They are due now, or when their first message is.
-- p_heads: their first messages, with their times and priorities. Null: the head stays as it was, and the stream is due
-- now.
-- Locks: none; the call has locked the streams.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_claim_{lane}, wh_settle_{lane}
create or replace function wh_free_streams(
  c wh_call, p_lane text, p_stream_ids uuid[], p_heads bigint[], p_scheduled timestamptz[], p_priorities int[]
)
returns void
language plpgsql
-- Rows are looked up one by one, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  update wh_active_streams s
  set instance_id = null, lease_expiry = null, head = coalesce(f.head, s.head), held_through = 0,
      available_at = greatest(f.scheduled_for, c.now), is_blocked = coalesce(f.scheduled_for > c.now, false),
      priority = case when f.head is null then s.priority else f.priority end
  from unnest(p_stream_ids, p_heads, p_scheduled, p_priorities) as f(stream_id, head, scheduled_for, priority)
  -- "is true" keeps the planner from reading a whole lane by another index than the primary key.
  where s.stream_id = f.stream_id and (s.lane = p_lane) is true;
end
$$;
