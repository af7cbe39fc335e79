-- The switch to a build, in the transaction of the caller. Returns as wh_switch_perspective.
-- What any instance has read of either build before is refused when it is stored: it was read for another state.
-- What is announced: the live build has announced all up to its place, in all its ranges, and the other one does so
-- from there. What both hold is announced by the other one when it is applied.
-- Locks: the advisory lock of wh_register_perspective, tried; the bookmarks of both builds by name and range; their
--   rows of wh_perspectives; checkpoint rows of held streams; the view. It waits as long as lock_timeout says.
-- Reads by: primary key.
-- Raises: lock_not_available, dependent_objects_still_exist
-- Called by: wh_switch_perspective
create or replace function wh_switch_over(p_name text)
returns text
language plpgsql
as $$
declare
  n wh_perspectives; -- the new one
  o wh_perspectives; -- the one that is live
  v_names text[];
  v_place wh_place;
begin
  select x.* into n from wh_perspectives x where x.name = p_name;
  if n.name is null then
    return 'gone';
  elsif n.state = any(array['live', 'building']) then
    return 'switched';
  elsif not pg_try_advisory_xact_lock(hashtext('wh_perspectives'), hashtext(current_schema())) then
    return 'busy';
  end if;
  select x.* into o from wh_perspectives x where x.base_name = n.base_name and x.state = any(array['live', 'building']);
  v_names := array[o.name, n.name];
  if not wh_lock_bookmarks(v_names) then
    perform wh_halt_live(o.name, n.name);
    return 'busy';
  end if;
  v_place := wh_places(o.name);
  if v_place.low_tick <> v_place.high_tick or v_place.low_upto <> v_place.high_upto or exists (
    select from wh_places(n.name) x where x.is_swept or (x.low_tick, x.low_upto) < (v_place.low_tick, v_place.low_upto))
  then
    perform wh_halt_live(o.name, n.name);
    return 'behind';
  end if;
  update wh_perspectives x
  set state = 'retired', switches = false, halted_until = '-infinity'
  where x.name = o.name;
  update wh_perspectives x
  set state = o.state, switched_at = clock_timestamp(), switches = true,
      announced_tick = g.tick, announced_upto = g.upto
  from (
    select a.tick, a.upto
    from (values (wh_present_tick(o.announced_tick), o.announced_upto), (v_place.low_tick, v_place.low_upto)) as a(tick, upto)
    order by a.tick desc, a.upto desc
    limit 1
  ) g
  where x.name = n.name;
  update wh_perspectives x
  set switches = false
  where x.base_name = n.base_name and x.state = 'beside' and (x.version, x.build) < (n.version, n.build);
  update wh_perspective_checkpoints k
  set quiet_version = greatest(h.last_version, h.quiet_version)
  from wh_perspective_checkpoints h
  where h.perspective_name = o.name and h.held and k.perspective_name = n.name and k.stream_id = h.stream_id and k.held;
  update wh_perspective_bookmarks x
  set instance_id = null, lease_expiry = null, fence = x.fence + 1
  where x.name = any(v_names);
  if n.table_name is not null then
    perform wh_point_view(n, to_regclass(quote_ident(n.base_name)) is null);
  end if;
  return 'switched';
end
$$;
