-- Returns the order number of the first unadmitted message between two numbers that needs admission
-- (wh_needing_admission), among the first p_most. All others lie behind the head of a stream that has a row; its next
-- claim finds and marks them.
-- Locks: none
-- Reads by: wh_{lane}_unadmitted, from p_from; streams by primary key.
-- Raises: none
-- Called by: wh_arrivals_beyond_{lane}, wh_move_floors_{lane}
create or replace function wh_first_needing_{lane}(p_from bigint, p_below bigint, p_most int)
returns bigint
language plpgsql stable
as $$
begin
  return (
    select u.sequence_order
    from (
      select m.sequence_order, {is_unappended} as appends,
        -- Newest version first; see docs/internals/mechanism.md#plans-that-hold
        (select s.head from wh_active_streams s
         where (s.stream_id, s.lane) between (m.stream_key, '{lane}') and (m.stream_key, '{lane}')
         order by s.stream_id desc, s.lane desc limit 1) as head
      from wh_{lane} m
      where m.partition_number is null and m.processed_at is null and m.sequence_order >= p_from and m.sequence_order < p_below
      order by m.sequence_order
      limit p_most
    ) u
    where u.head is null or u.appends or u.sequence_order < u.head
    order by u.sequence_order
    limit 1
  );
end
$$;
