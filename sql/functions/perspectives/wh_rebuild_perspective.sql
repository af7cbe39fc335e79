-- Begins to build the models of a perspective again, beside those that queries read: a new build of the same code.
-- Returns {name, is_new}. If such a build is under way, it is that one.
-- p_version null: that of the live build. p_switches false: it stays beside when it has caught up.
-- Of the builds of this code that were live before, the table is dropped: at most one is kept to go back to.
-- Locks: the advisory lock of wh_register_perspective, waiting; as wh_drop_build.
-- Reads by: all rows of wh_perspectives.
-- Raises: WB001, WB003
-- Called by: build-functions.ts
create or replace function wh_rebuild_perspective(p_base_name text, p_version int, p_switches boolean)
returns json
language plpgsql security definer
set search_path from current
as $$
declare
  p wh_perspectives;
  n wh_perspectives;
begin
  perform pg_advisory_xact_lock(hashtext('wh_perspectives'), hashtext(current_schema()));
  select x.* into p
  from wh_perspectives x
  where x.base_name = p_base_name and (x.version = p_version or p_version is null)
  order by x.state = any(array['live', 'building']) desc, x.version desc, x.build desc
  limit 1;
  if p.name is null then
    perform wh_refuse('p_base_name', format('%s is no perspective of this schema', p_base_name));
  elsif p.kind = 'custom' then
    perform wh_refuse('p_base_name', format('%s has tables of its own, which are not made beside: it can be rebuilt in place', p_base_name));
  elsif p.state = 'building' then
    return json_build_object('name', p.name, 'is_new', false);
  end if;
  select x.* into n from wh_perspectives x where x.code = p.code and x.state = 'beside' order by x.build desc limit 1;
  if n.name is not null then
    update wh_perspectives x set switches = p_switches where x.name = n.name;
    return json_build_object('name', n.name, 'is_new', false);
  end if;
  perform wh_drop_build(x.name) from wh_perspectives x where x.code = p.code and x.state = 'retired' and p.state = 'live';
  n := wh_build_perspective(
    jsonb_build_object('name', p.base_name, 'version', p.version, 'kind', p.kind, 'is_inline', p.is_inline, 'event_types', to_jsonb(p.event_types),
      'fingerprint', p.fingerprint, 'columns', p.columns),
    (select max(x.build) + 1 from wh_perspectives x where x.code = p.code));
  if not p_switches then
    update wh_perspectives x set switches = false where x.name = n.name;
  end if;
  perform wh_notify_all();
  return json_build_object('name', n.name, 'is_new', true);
end
$$;
