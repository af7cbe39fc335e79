-- Returns those of these unadmitted messages, in their order, that need admission: messages of streams without a row,
-- events (they have to be appended), and messages below the head of their stream.
-- All others are left: the next claim of their stream finds and marks them. So each is written once and not twice, and
-- no call locks a stream that another one works on. The floors pass them (wh_move_floors_{lane}).
-- Locks: none
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_arrivals_beyond_{lane}, wh_arrivals_{lane}
create or replace function wh_needing_admission(p_lane text, p_arrivals wh_arrival[])
returns wh_arrival[]
language plpgsql stable
as $$
begin
  if p_arrivals = '{}' then
    return p_arrivals;
  end if;
  return array(
    select u.a
    from (
      -- Not joined: whatever the statistics say, each is looked up; see docs/internals/mechanism.md#plans-that-hold
      select a::wh_arrival as a, (select s from wh_active_streams s where s.stream_id = a.stream_key and (s.lane = p_lane) is true) as s
      from unnest(p_arrivals) a
    ) u
    where (u.s).stream_id is null or (u.a).appends or (u.a).sequence_order < (u.s).head
    order by (u.a).sequence_order
  );
end
$$;
