-- Returns those of these unadmitted messages, in their order, that need admission: messages of streams without a row,
-- events (they have to be appended), and messages below the head of their stream.
-- All others are left: the next claim of their stream finds and marks them. So each is written once and not twice, and
-- no call locks a stream that another one works on. The floors pass them (wh_move_floors_{lane}).
-- Locks: none
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_arrivals_beyond_{lane}, wh_arrivals_{lane}, wh_with_ranked_{lane}
create or replace function wh_needing_admission(p_lane text, p_arrivals wh_arrival[])
returns wh_arrival[]
language plpgsql stable
as $$
begin
  if p_arrivals = '{}' then
    return p_arrivals;
  end if;
  return array(
    select a::wh_arrival
    from unnest(p_arrivals) a
    where a.appends or (a.sequence_order >= (
      -- Newest version first; see docs/internals/mechanism.md#plans-that-hold
      select s.head from wh_active_streams s
      where (s.stream_id, s.lane) between (a.stream_key, p_lane) and (a.stream_key, p_lane)
      order by s.stream_id desc, s.lane desc
      limit 1)) is not true
    order by a.sequence_order
  );
end
$$;
