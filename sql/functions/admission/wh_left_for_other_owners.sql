-- Tells whether the call has admitted messages of other instances' partitions and leased them to no instance. A worker
-- that looked while their streams were locked has skipped them and has to be notified.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: wh_admit_{lane}
create or replace function wh_left_for_other_owners(p_admitted wh_arrival[], p_leased uuid[], p_rank int, p_instances int)
returns boolean
language plpgsql immutable
-- Nested loops over the arrays of a batch would be quadratic; see docs/internals/mechanism.md#plans-that-hold
set enable_nestloop = off
as $$
begin
  if p_instances < 2 or coalesce(p_admitted, '{}') = '{}' then
    return false;
  end if;
  return exists (
    select 1
    from unnest(p_admitted) a
    left join unnest(p_leased) l on l = a.message_id
    where a.partition_number % p_instances <> p_rank and l is null
  );
end
$$;
