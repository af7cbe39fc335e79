-- Returns the partitions in which the instance holds a live lease. Called only if there is a cap on them.
-- Locks: none
-- Reads by: wh_active_streams_leased.
-- Raises: none
-- Called by: wh_lock_due_streams, wh_partitions_with_room, wh_would_lock
create or replace function wh_held_partitions(c wh_call)
returns int[]
language plpgsql stable
as $$
begin
  return (
    select coalesce(array_agg(distinct s.partition_number), '{}')
    from wh_active_streams s
    where s.lane = any(array['outbox', 'inbox'])
      and s.instance_id is not null
      and s.lease_expiry > c.now
      and s.instance_id = c.instance_id
  );
end
$$;
