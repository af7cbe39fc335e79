-- Of these arrivals: those whose stream the call has opened or locked. Touches no table.
create or replace function wh_admissible(p_lane text, p_arrivals wh_arrival[], p_streams wh_open_stream[])
returns wh_arrival[]
language plpgsql immutable
set enable_nestloop = off
as $$
begin
  if coalesce(cardinality(p_arrivals), 0) = 0 then
    return '{}';
  end if;
  return (
    select coalesce(array_agg(a::wh_arrival order by a.sequence_order), '{}')
    from unnest(p_arrivals) a
    join unnest(p_streams) s on s.lane = p_lane and s.stream_id = a.stream_key
  );
end
$$;
