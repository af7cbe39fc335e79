-- Adds unadmitted messages with a priority to those that a call admits, where it does not read all: the highest first,
-- up to 5000. So one with a high priority is found behind any number of others, and those with a low one soon have a
-- place of their own and hide nobody.
-- Locks: none
-- Reads by: wh_{lane}_ranked; streams as wh_needing_admission.
-- Raises: none
-- Called by: wh_arrivals_{lane}
create or replace function wh_with_ranked_{lane}(c wh_call, p_arrived wh_arrived)
returns wh_arrived
language plpgsql stable
as $$
declare
  c_most constant int := 5000;
  v_ranked wh_arrival[] := array(
    select (m.message_id, m.stream_key, wh_partition(m.stream_key, c.partition_count), m.sequence_order, {is_unappended}, {priority})::wh_arrival
    from wh_{lane} m
    where m.priority >= -{LargestInt} - 1 and m.partition_number is null and m.processed_at is null
    order by m.priority desc, m.sequence_order
    limit c_most);
begin
  if v_ranked <> '{}' then
    p_arrived.has_ranked := true;
    p_arrived.arrivals := array(
      select a::wh_arrival
      from (select * from unnest(p_arrived.arrivals) union select * from unnest(wh_needing_admission('{lane}', v_ranked))) a
      order by a.sequence_order);
  end if;
  return p_arrived;
end
$$;
