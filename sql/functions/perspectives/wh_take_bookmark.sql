-- Returns what the caller has to do next with a bookmark that it has leased: {tick, upto: the place of the bookmark,
-- fence, interruptions, state, next: as wh_next_batch}. Null: it does not hold the bookmark. If there is nothing to do,
-- next is null, and the bookmark is released.
-- p_locks: locks the bookmark until the transaction ends, for work that may take longer than a lease.
-- Locks: the row of the bookmark, if p_locks, skip locked.
-- Reads by: primary key, newest first; as wh_next_batch.
-- Raises: none
-- Called by: perspective-functions.ts, wh_claim_bookmarks
create or replace function wh_take_bookmark(p_instance_id uuid, p_name text, p_from_partition int, p_limit int, p_locks boolean default false)
returns json
language plpgsql security definer
set search_path from current
-- Row by row, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set plan_cache_mode = force_generic_plan
as $$
declare
  p wh_perspectives;
  b wh_perspective_bookmarks;
  v_next json;
begin
  if p_locks then
    select x.* into b from wh_perspective_bookmarks x
    where x.name = p_name and x.from_partition = p_from_partition
    order by x.tick desc, x.upto desc
    limit 1
    for update skip locked;
  else
    select x.* into b from wh_perspective_bookmarks x
    where x.name = p_name and x.from_partition = p_from_partition
    order by x.tick desc, x.upto desc
    limit 1;
  end if;
  if b.instance_id is distinct from p_instance_id then
    return null;
  end if;
  select x.* into p from wh_perspectives x where x.name = p_name;
  v_next := wh_next_batch(p, b, p_limit);
  if v_next is null then
    perform wh_caught_up(p, b);
    update wh_perspective_bookmarks x
    set instance_id = null, lease_expiry = null, interruptions = 0, careful = 0, failures = 0, failing_since = null, last_error = null
    where x.name = b.name and x.from_partition = b.from_partition and x.tick = b.tick and x.upto = b.upto and x.instance_id = p_instance_id;
  end if;
  return json_build_object('tick', b.tick, 'upto', b.upto, 'fence', b.fence, 'interruptions', b.interruptions, 'is_careful', b.careful > 0, 'state', p.state,
    'next', v_next);
end
$$;
