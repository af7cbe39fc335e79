-- Lowers the head of streams that an arrival lies below: its transaction took its order early and committed late.
-- A free stream that is not due yet becomes due: the arrival may lie before the message it waits for. If it does not,
-- the next claim looks and lets it wait on.
-- The streams are locked by the call. Reads by primary key.
create or replace function wh_lower_heads(c wh_call, p_lane text, p_arrivals wh_arrival[])
returns void
language plpgsql
set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  update wh_active_streams s
  set head = least(s.head, a.head),
      available_at = case when s.instance_id is null then least(s.available_at, c.now) else s.available_at end
  from (select u.stream_key, min(u.sequence_order) as head from unnest(p_arrivals) u group by u.stream_key) a
  where s.stream_id = a.stream_key and (s.lane = p_lane) is true
    and (s.head > a.head or s.available_at > c.now);
end
$$;
