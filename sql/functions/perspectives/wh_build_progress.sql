-- Returns how far a build is, null if there is none: {name, code, state, switches, switch_after, kind, done, total:
-- numbers of events, is_caught_up, events_per_second, held: how many streams or models, instances: how many have its
-- code}
-- Locks: none
-- Reads by: primary key; wh_perspective_checkpoints_held; all instances.
-- Raises: none
-- Called by: build-functions.ts
create or replace function wh_build_progress(p_name text)
returns json
language plpgsql stable security definer
set search_path from current
as $$
declare
  p wh_perspectives;
  l wh_place;
  o wh_place := wh_places(p_name);
  v_total bigint := coalesce((select t.high from wh_event_ticks t order by t.tick desc limit 1), 0);
  v_is_caught_up boolean;
  v_done numeric;
  v_rate numeric;
begin
  select x.* into p from wh_perspectives x where x.name = p_name;
  if p.name is null then
    return null;
  end if;
  select x.tick, x.upto into l.low_tick, l.low_upto from wh_live_position(p.base_name) x;
  v_is_caught_up := p.state = 'live' or p.state <> 'building' and not o.is_swept and (o.low_tick, o.low_upto) >= (l.low_tick, l.low_upto);
  select sum(least(coalesce(b.swept, b.upto), v_total) * (b.to_partition - b.from_partition + 1) / 10000.0),
         sum(b.applied / greatest(extract(epoch from clock_timestamp() - b.applied_since), 1))
  into v_done, v_rate
  from wh_perspective_bookmarks b
  where b.name = p_name;
  return json_build_object('name', p.name, 'code', p.code, 'state', p.state, 'switches', p.switches, 'switch_after', p.switch_after, 'kind', p.kind,
    'done', case when v_is_caught_up then v_total else floor(v_done) end, 'total', v_total, 'is_caught_up', v_is_caught_up,
    'events_per_second', round(v_rate, 1),
    'held', (select count(*) from wh_perspective_checkpoints k where k.perspective_name = p_name and k.held),
    'instances', (select count(*) from wh_service_instances i where p.code = any(i.perspectives)));
end
$$;
