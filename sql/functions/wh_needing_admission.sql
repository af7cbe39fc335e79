-- Of these unadmitted messages, in their order: those of streams without a row; events, which are to be appended; and, in a
-- stream that has a row, those that lie below its head, or that have waited since before the floors were last moved, so that
-- they hold those up. All others are left: the next claim of their stream
-- finds and marks them, so that each is written once and not twice, and nobody locks a stream that somebody else works on.
-- Reads by primary key.
create or replace function wh_needing_admission(p_lane text, p_arrivals wh_arrival[])
returns wh_arrival[]
language plpgsql stable
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_old bigint;
begin
  if p_arrivals = '{}' then
    return p_arrivals;
  end if;
  v_old := (select l.next_admitted_below from wh_lanes l where l.lane = p_lane);
  return array(
    select a::wh_arrival
    from unnest(p_arrivals) a
    left join wh_active_streams s on s.stream_id = a.stream_key and (s.lane = p_lane) is true
    where s.stream_id is null or a.appends or a.sequence_order < s.head or a.sequence_order <= v_old
    order by a.sequence_order
  );
end
$$;
