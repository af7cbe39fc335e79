-- Returns the unadmitted messages of the lane if they are few and the caller can begin all of them at once: their
-- streams have no row, so nothing is before them; nobody has tried them; none has a time or a priority. Otherwise null.
-- Then wh_take_few_{lane} leases them, without the steps for what is due, crowded, blocked or left to others.
-- An event that leaves is not among them: what its stream has in the inbox is appended first (wh_with_own_events).
-- Locks: none
-- Reads by: wh_{lane}_unadmitted, from the lane's floor; streams by primary key.
-- Raises: none
-- Called by: process_work_batch
create or replace function wh_few_arrivals_{lane}(c wh_call, p_room int)
returns wh_arrival[]
language plpgsql stable
as $$
declare
  c_few constant int := 10;
  v_arrivals wh_arrival[];
  v_can_begin boolean;
begin
  -- An instance that could begin so many streams may take them, whoever owns their partitions.
  if c.{lane}_spare = 0 or c.max_partitions is not null then
    return null;
  end if;
  select array_agg((m.message_id, m.stream_key, wh_partition(m.stream_key, c.partition_count), m.sequence_order, m.appends, null)::wh_arrival),
    bool_and(m.can_begin)
  into v_arrivals, v_can_begin
  from (
    select m.message_id, m.stream_key, m.sequence_order, {is_unappended} as appends,
      {not_begun} and m.scheduled_for is null and {priority} is null and {can_run} and (
        -- Newest version first; see docs/internals/mechanism.md#plans-that-hold
        select true from wh_active_streams s
        where (s.stream_id, s.lane) between (m.stream_key, '{lane}') and (m.stream_key, '{lane}')
        order by s.stream_id desc, s.lane desc
        limit 1) is not true as can_begin
    from wh_{lane} m
    where m.partition_number is null and m.processed_at is null and m.sequence_order >= c.{lane}_floor
    order by m.sequence_order
    limit c_few + 1
  ) m;
  if v_can_begin and cardinality(v_arrivals) <= least(c_few, c.{lane}_spare, p_room) then
    return v_arrivals;
  end if;
  return null;
end
$$;
