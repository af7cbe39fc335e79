-- Returns the order number of the first unadmitted message of the lane. A message that was committed late may lie below
-- the head of its stream. So every look for a stream's first message starts from the lower of the two.
-- Call it as `(select …)`: once per statement, with its snapshot.
-- Locks: none
-- Reads by: the first entry of wh_{lane}_unadmitted, from the lane's floor.
-- Raises: none
-- Called by: wh_claim_{lane}, wh_close_{lane}, wh_note_disorder_{lane}, wh_poll_of, wh_settle_{lane},
--   wh_streams_with_other_work_{lane}, wh_would_look_{lane}
create or replace function wh_first_unadmitted_{lane}(p_floor bigint)
returns bigint
language plpgsql stable
as $$
begin
  return (
    select m.sequence_order from wh_{lane} m
    where m.partition_number is null and m.processed_at is null and m.sequence_order >= p_floor
    order by m.sequence_order
    limit 1
  );
end
$$;
