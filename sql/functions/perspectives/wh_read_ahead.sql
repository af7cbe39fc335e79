-- Returns what comes in a sweep behind a batch that the caller has and will move behind: as wh_next_swept. Null: the
-- caller does not hold the bookmark. It is for the move of that batch to say whether this is what comes next.
-- Locks: none
-- Reads by: primary key, newest first; as wh_next_swept.
-- Raises: none
-- Called by: perspective-functions.ts
create or replace function wh_read_ahead(p_instance_id uuid, p_name text, p_from_partition int, p_swept bigint, p_limit int)
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
begin
  select x.* into b from wh_perspective_bookmarks x
  where x.name = p_name and x.from_partition = p_from_partition
  order by x.tick desc, x.upto desc
  limit 1;
  if b.instance_id is distinct from p_instance_id or b.swept is null then
    return null;
  end if;
  b.swept := p_swept;
  b.part_stream_id := null;
  select x.* into p from wh_perspectives x where x.name = p_name;
  return wh_next_swept(p, b, p_limit);
end
$$;
