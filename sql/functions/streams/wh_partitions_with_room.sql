-- Returns, under a cap on partitions, those that the instance holds and as many more of the wanted ones, first come
-- first served, as the cap leaves.
-- Locks: none
-- Reads by: as wh_held_partitions.
-- Raises: none
-- Called by: wh_lock_due_streams, wh_try_store
create or replace function wh_partitions_with_room(c wh_call, p_wanted int[])
returns int[]
language plpgsql stable
as $$
declare
  v_held int[] := wh_held_partitions(c);
begin
  return {partitions_within_cap};
end
$$;
