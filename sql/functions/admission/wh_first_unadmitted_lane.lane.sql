-- The order number of the first message that no coordinator has admitted. One that was committed late may lie below the
-- head of its stream; so whoever looks for a stream's first message starts from the lower of the two.
-- To be called as `(select …)`: once per statement, with its snapshot. Reads the head of wh_{lane}_unadmitted.
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
