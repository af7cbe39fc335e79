-- Returns those of these arrivals whose stream the call has opened or locked. If they are not all that is unadmitted,
-- it leaves out streams in which an event would overtake an earlier one.
-- Locks: none
-- Reads by: as wh_unappended_streams_{lane}.
-- Raises: none
-- Called by: wh_try_store, wh_would_admit
create or replace function wh_admissible_{lane}(c wh_call, p_arrivals wh_arrival[], p_streams wh_open_stream[])
returns wh_arrival[]
language plpgsql stable
-- Nested loops over the arrays of a batch would be quadratic; see docs/internals/mechanism.md#plans-that-hold
set enable_nestloop = off
as $$
declare
  v_behind uuid[] := '{}';
begin
  if p_arrivals = '{}' then
    return p_arrivals;
  end if;
  if c.{lane}_all_seen is not true then
    v_behind := wh_unappended_streams_{lane}(c, array(select distinct a.stream_key from unnest(p_arrivals) a where a.appends), p_arrivals, false);
  end if;
  return array(
    select a::wh_arrival
    from unnest(p_arrivals) a
    join unnest(p_streams) s on s.lane = '{lane}' and s.stream_id = a.stream_key
    where a.stream_key <> all(v_behind)
    order by a.sequence_order
  );
end
$$;
