-- Asks for another build of a perspective to become the one that queries read. Returns its name. Whoever has its code
-- brings it up to date, and switches.
-- p_name null: the one that is beside; else the one that was live before.
-- Locks: the advisory lock of wh_register_perspective, waiting; the row of wh_perspectives.
-- Reads by: all rows of wh_perspectives.
-- Raises: WB001
-- Called by: build-functions.ts
create or replace function wh_want_build(p_base_name text, p_name text)
returns text
language plpgsql security definer
set search_path from current
as $$
declare
  p wh_perspectives;
begin
  perform pg_advisory_xact_lock(hashtext('wh_perspectives'), hashtext(current_schema()));
  select x.* into p
  from wh_perspectives x
  where x.base_name = p_base_name and (x.name = p_name or p_name is null and x.state = any(array['beside', 'retired']))
  order by x.state = 'beside' desc, x.switched_at desc nulls last, x.version desc, x.build desc
  limit 1;
  if p.name is null then
    perform wh_refuse('p_name', coalesce(p_name, p_base_name) || ' has no other build to switch to');
  end if;
  update wh_perspectives x
  set state = 'beside', switches = true, switch_after = '-infinity'
  where x.name = p.name and x.state = any(array['beside', 'retired']);
  perform wh_notify_all();
  return p.name;
end
$$;
