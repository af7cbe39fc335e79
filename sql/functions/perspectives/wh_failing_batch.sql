-- Returns the batch of a build that fails as a whole, of several that which has failed most often: {tick, upto: the
-- place behind which it lies, failures, since, error}. Null: none does.
-- Locks: none
-- Reads by: bookmarks by primary key.
-- Raises: none
-- Called by: wh_perspective_status
create or replace function wh_failing_batch(p wh_perspectives)
returns json
language plpgsql stable
as $$
begin
  return (
    select json_build_object('tick', b.tick, 'upto', b.upto, 'failures', b.failures, 'since', b.failing_since, 'error', b.last_error)
    from wh_perspective_bookmarks b
    where b.name = p.name and b.failures > 0
    order by b.failures desc, b.from_partition
    limit 1);
end
$$;
