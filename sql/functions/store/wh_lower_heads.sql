-- Lowers the head of streams that an arrival lies below: its transaction took its order early and committed late.
-- A free stream that waits, for a time or for a handler, has another first message now: it is due, to be looked at. So is one whose
-- first message had to wait until it was appended to the event store, as it is now. An arrival behind the head changes nothing, so a stream that waits goes on waiting, however much arrives there.
-- The streams are locked by the call. Reads by primary key.
create or replace function wh_lower_heads(c wh_call, p_lane text, p_arrivals wh_arrival[])
returns void
language plpgsql
set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  update wh_active_streams s
  set head = least(s.head, a.head), is_blocked = false, waits_for = null,
      available_at = case when s.is_blocked or s.waits_for is not null then c.now else s.available_at end
  from (
    select u.stream_key, min(u.sequence_order) as head, min(u.sequence_order) filter (where u.appends) as appended
    from unnest(p_arrivals) u
    group by u.stream_key
  ) a
  where s.stream_id = a.stream_key and (s.lane = p_lane) is true
    and (s.head > a.head or s.is_blocked and s.head = a.appended);
end
$$;
