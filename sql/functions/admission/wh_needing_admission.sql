-- Of these unadmitted messages, in their order: those of streams without a row; events, which are to be appended; and, in a
-- stream that has a row, those that lie below its head. All others are left: the next claim of their stream finds and marks them, so
-- that each is written once and not twice, and nobody locks a stream that somebody else works on. The floors pass them (wh_move_floors_{lane}).
-- Reads by primary key.
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
      -- Not joined: whatever the statistics say, each is looked up.
      select a::wh_arrival as a, (select s from wh_active_streams s where s.stream_id = a.stream_key and (s.lane = p_lane) is true) as s
      from unnest(p_arrivals) a
    ) u
    where (u.s).stream_id is null or (u.a).appends or (u.a).sequence_order < (u.s).head
    order by (u.a).sequence_order
  );
end
$$;
