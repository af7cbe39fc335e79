-- The plainly inserted messages that no coordinator has seen, lowest order first, about as many as there is room for.
-- Reads by wh_{lane}_unadmitted, from the lane's floor or from where admission goes on.
create or replace function wh_arrivals_{lane}(c wh_call, p_room int)
returns wh_arrival[]
language plpgsql stable
as $$
declare
  v_arrivals wh_arrival[];
begin
  select array_agg(a::wh_arrival) into v_arrivals
  from (
    select m.message_id, m.stream_key, wh_partition(m.stream_key, c.partition_count), m.sequence_order,
           m.is_event and m.stream_id is not null and m.status & 2 = 0
    from wh_{lane} m
    where m.partition_number is null and m.processed_at is null and m.sequence_order >= c.{lane}_admit_from
    order by m.sequence_order
    limit wh_admission_limit(p_room)
  ) a;
  return coalesce(v_arrivals, '{}');
end
$$;
