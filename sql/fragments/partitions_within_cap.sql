-- The partitions that the caller holds, and as many more of the wanted ones, first come first served, as the cap leaves.
-- Included by: wh_partitions_with_room, wh_would_lock
v_held || array(
    select w.partition_number
    from unnest(p_wanted) with ordinality as w(partition_number, place)
    where w.partition_number <> all(v_held)
    group by w.partition_number
    order by min(w.place)
    limit greatest(c.max_partitions - cardinality(v_held), 0)
  )
