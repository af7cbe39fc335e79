-- Tells whether a call would meet more unadmitted messages than it reads. Then it looks for what can start, for a
-- second at most (wh_arrivals_beyond_{lane}).
-- Locks: none
-- Reads by: wh_{lane}_unadmitted, from the lane's floor.
-- Raises: none
-- Called by: wh_explain_instances_{lane}
create or replace function wh_meets_crowd_{lane}(c wh_call, p_room int)
returns boolean
language plpgsql stable
as $$
declare
  v_limit int := wh_admission_limit(p_room);
begin
  return c.{lane}_arrived and (c.{lane}_admit_from > c.{lane}_floor or (
    select m.sequence_order from wh_{lane} m
    where m.partition_number is null and m.processed_at is null and m.sequence_order >= c.{lane}_floor
    order by m.sequence_order
    offset {most_arrivals} - 1 limit 1) is not null);
end
$$;
