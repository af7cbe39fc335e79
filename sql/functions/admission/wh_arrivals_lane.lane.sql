-- Returns the unadmitted messages that this call is to admit, lowest order first, about as many as there is room for.
-- Most need no admission: in a stream that has a row, the next claim takes them in their order and marks them
-- (wh_needing_admission). A call that has work of its own, and could not begin more at once, leaves new streams of
-- other instances' partitions to their owners.
-- If there are too many, it picks what can start (wh_arrivals_beyond_{lane}), and those that have a priority
-- (wh_with_ranked_{lane}).
-- Locks: none
-- Reads by: wh_{lane}_unadmitted, from the lane's floor.
-- Raises: none
-- Called by: wh_see_arrivals, wh_would_admit
create or replace function wh_arrivals_{lane}(c wh_call, p_room int, p_polls boolean)
returns wh_arrived
language plpgsql stable
as $$
declare
  v_limit int := wh_admission_limit(p_room);
  -- With more instances more messages are under way, and most belong to the others.
  v_look int := {most_arrivals};
  v_for_all boolean := p_polls or c.noted_at is not null or c.takeover_seconds = 0 or c.{lane}_spare > 0;
  v_seen int;
  v_arrivals wh_arrival[];
  v_has_ranked boolean;
begin
  if c.{lane}_admit_from > c.{lane}_floor then
    -- There was a crowd within the last second.
    return wh_with_ranked_{lane}(c, wh_arrivals_beyond_{lane}(c, p_room, v_for_all));
  end if;
  select count(*), array_agg(a::wh_arrival) filter (where v_for_all or a.appends or a.partition_number % c.{lane}_instances = c.{lane}_rank),
    bool_or(a.priority is not null)
  into v_seen, v_arrivals, v_has_ranked
  from (
    select m.message_id, m.stream_key, wh_partition(m.stream_key, c.partition_count) as partition_number, m.sequence_order,
           {is_unappended} as appends, {priority} as priority
    from wh_{lane} m
    where m.partition_number is null and m.processed_at is null and m.sequence_order >= c.{lane}_floor
    order by m.sequence_order
    limit v_look
  ) a;
  if v_seen = v_look then
    return wh_with_ranked_{lane}(c, wh_arrivals_beyond_{lane}(c, p_room, v_for_all));
  end if;
  v_arrivals := wh_needing_admission('{lane}', coalesce(v_arrivals, '{}'));
  if v_has_ranked and cardinality(v_arrivals) > v_limit then
    return wh_with_ranked_{lane}(c, row(v_arrivals[:v_limit], false, false, null, true));
  end if;
  return row(v_arrivals[:v_limit], cardinality(v_arrivals) <= v_limit, false, null, v_has_ranked)::wh_arrived;
end
$$;
