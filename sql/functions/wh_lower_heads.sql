-- Lowers the head of streams that an arrival lies below: its transaction took its order early and committed late.
-- A free stream that is not due yet becomes due: the arrival may lie before the message it waits for. If it does not,
-- the next claim looks and lets it wait on.
-- One that waited for a handler may have another first message now: it is to be looked at again, as one that is due now
-- (its own time may lie below the floor of those).
-- The streams are locked by the call. Reads by primary key.
create or replace function wh_lower_heads(c wh_call, p_lane text, p_arrivals wh_arrival[])
returns void
language plpgsql
set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  update wh_active_streams s
  set head = least(s.head, a.head),
      waits_for = case when s.head > a.head then null else s.waits_for end,
      available_at = case
        when s.instance_id is not null then s.available_at
        when s.waits_for is not null and s.head > a.head then c.now
        else least(s.available_at, c.now)
      end
  from (select u.stream_key, min(u.sequence_order) as head from unnest(p_arrivals) u group by u.stream_key) a
  where s.stream_id = a.stream_key and (s.lane = p_lane) is true
    and (s.head > a.head or s.available_at > c.now);
end
$$;
