-- Returns the builds of a perspective, [{name, code, kind, state}]: the one that queries read, then those beside, then
-- those that were live before, the latest first.
-- Locks: none
-- Reads by: all rows of wh_perspectives.
-- Raises: none
-- Called by: build-functions.ts
create or replace function wh_builds(p_base_name text)
returns json
language sql stable security definer
set search_path from current
as $$
  select coalesce(json_agg(json_build_object('name', p.name, 'code', p.code, 'kind', p.kind, 'state', p.state)
    order by array_position(array['live', 'building', 'beside', 'retired'], p.state), p.switched_at desc nulls last, p.version desc, p.build desc), '[]')
  from wh_perspectives p
  where p.base_name = p_base_name
$$;
