-- Leaves streams, which the caller has locked, to those that have a handler for their first message. available_at is when
-- they began to wait, and stays; the head is exact, so that a message that comes late before it is known to (wh_lower_heads).
-- Reads by primary key.
create or replace function wh_leave_streams(p_lane text, p_stream_ids uuid[], p_heads bigint[], p_handlers text[])
returns void
language plpgsql
set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  update wh_active_streams s
  set instance_id = null, lease_expiry = null, held_through = 0, head = l.head, is_blocked = false, waits_for = l.handler
  from unnest(p_stream_ids, p_heads, p_handlers) as l(stream_id, head, handler)
  where s.stream_id = l.stream_id and (s.lane = p_lane) is true;
end
$$;
