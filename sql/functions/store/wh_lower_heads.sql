-- Lowers the head of streams that have an arrival below it: its transaction took its number early and committed late.
-- A free stream that waits, for a time or for a handler, then has another first message and becomes due. So does a
-- stream whose first message waited to be appended to the event store, because it is appended now.
-- An arrival behind the head changes nothing, so a stream that waits goes on waiting, however much arrives there.
-- Locks: none; the call has locked the streams.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_try_store
create or replace function wh_lower_heads(c wh_call, p_lane text, p_arrivals wh_arrival[])
returns void
language plpgsql
-- Rows are looked up one by one, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  update wh_active_streams s
  set head = least(s.head, a.head), is_blocked = false, waits_for = null,
      available_at = case when s.is_blocked or s.waits_for is not null then c.now else s.available_at end,
      priority = case when s.head > a.head then (
        select u.priority from unnest(p_arrivals) u where u.stream_key = s.stream_id order by u.sequence_order limit 1) else s.priority end
  from (
    select u.stream_key, min(u.sequence_order) as head, min(u.sequence_order) filter (where u.appends) as appended
    from unnest(p_arrivals) u
    group by u.stream_key
  ) a
  -- "is true" keeps the planner from reading a whole lane by another index than the primary key.
  where s.stream_id = a.stream_key and (s.lane = p_lane) is true
    and (s.head > a.head or s.is_blocked and s.head = a.appended);
end
$$;
