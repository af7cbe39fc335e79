-- Registers a perspective of an instance that starts, with its table and its view when they are new.
-- p_perspective: {name, version, kind, is_inline, event_types, fingerprint, columns: {name: type}, indexes:
-- [[column]]}
-- Returns {name, state, is_new, has_changed}; has_changed: the code is another one under the same version. Then what
-- is held is tried again.
-- It makes a tick first: what is in it is history, which a sweep reads stream by stream, and of which nothing is
-- announced.
-- Locks: the advisory lock ('wh_perspectives', schema), waiting; as wh_tick.
-- Reads by: primary key.
-- Raises: WB001, WB003; duplicate_table if the name is taken by a table of the user's.
-- Called by: perspective-functions.ts
create or replace function wh_register_perspective(p_instance_id uuid, p_perspective jsonb)
returns jsonb
language plpgsql security definer
set search_path from current
as $$
declare
  v_base text := p_perspective ->> 'name';
  v_code text := format('%s@%s', p_perspective ->> 'name', p_perspective ->> 'version');
  v_types text[] := array(select jsonb_array_elements_text(p_perspective -> 'event_types'));
  v_has_changed boolean := false;
  v_is_new boolean := false;
  p wh_perspectives;
begin
  perform pg_advisory_xact_lock(hashtext('wh_perspectives'), hashtext(current_schema()));
  perform wh_tick();
  select x.* into p from wh_perspectives x where x.code = v_code order by x.build desc limit 1;
  if p.name is null then
    v_is_new := true;
    p := wh_build_perspective(p_perspective, 1);
  elsif p.fingerprint <> p_perspective ->> 'fingerprint' or p.event_types <> v_types then
    v_has_changed := true;
    update wh_perspectives x set fingerprint = p_perspective ->> 'fingerprint', event_types = v_types where x.code = v_code;
    update wh_perspective_checkpoints k
    set retry_at = clock_timestamp(), attempts = 0
    from wh_perspectives x
    where x.code = v_code and k.perspective_name = x.name and k.held;
  end if;
  update wh_service_instances i
  set perspectives = array(select distinct n from unnest(coalesce(i.perspectives, '{}') || v_code) n order by n)
  where i.instance_id = p_instance_id;
  return jsonb_build_object('name', p.name, 'state', p.state, 'is_new', v_is_new, 'has_changed', v_has_changed);
end
$$;
