-- Returns the build of a perspective that a name means: orders (any version), orders@2 (this code) or orders@2.3 (this
-- build). Of several: the live one first, then one that is built, one that was live, one that is built beside. All
-- null: there is none.
-- Locks: none
-- Reads by: all rows of wh_perspectives.
-- Raises: none
-- Called by: wh_event_progress, wh_find_models, wh_load_model, wh_perspective_held, wh_perspective_status,
--   wh_retry_held, wh_skip_held
create or replace function wh_find_build(p_name text)
returns wh_perspectives
language plpgsql stable
as $$
declare
  p wh_perspectives;
begin
  select x.* into p
  from wh_perspectives x
  where x.code = p_name or x.base_name = p_name or format('%s.%s', x.code, x.build) = p_name
  order by array_position(array['live', 'building', 'retired', 'beside'], x.state), x.version desc, x.build desc
  limit 1;
  return p;
end
$$;
