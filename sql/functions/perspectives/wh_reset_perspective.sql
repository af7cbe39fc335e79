-- Begins a perspective anew in its own place, in the transaction of the caller: all events are read again from the
-- first one, and nothing of those that were read before is announced again. Its models are deleted; tables of the
-- user's are the caller's business. Returns false if a bookmark is in use.
-- Locks: as wh_lock_bookmarks; its row of wh_perspectives; checkpoint rows; model rows.
-- Reads by: primary key.
-- Raises: WB001
-- Called by: build-functions.ts
create or replace function wh_reset_perspective(p_name text)
returns boolean
language plpgsql security definer
set search_path from current
set lock_timeout = '2s'
as $$
declare
  p wh_perspectives;
  b wh_perspective_bookmarks;
  v_place wh_place;
begin
  if not wh_lock_bookmarks(array[p_name]) then
    return false;
  end if;
  select x.* into p from wh_perspectives x where x.name = p_name;
  v_place := wh_places(p_name);
  select x.* into b from wh_perspective_bookmarks x where x.name = p_name order by x.fence desc limit 1;
  delete from wh_perspective_bookmarks x where x.name = p_name;
  insert into wh_perspective_bookmarks (name, from_partition, to_partition, tick, upto, fence)
  values (p_name, 0, 9999, 0, 0, b.fence + 1);
  update wh_perspectives x
  set cuts = '{0}', state = case x.state when 'live' then 'building' else x.state end,
      announced_tick = case when a.is_further then v_place.high_tick else x.announced_tick end,
      announced_upto = case when a.is_further then v_place.high_upto else x.announced_upto end
  from (select (v_place.high_tick, v_place.high_upto) > (wh_present_tick(p.announced_tick), p.announced_upto) as is_further) a
  where x.name = p_name;
  delete from wh_perspective_checkpoints k where k.perspective_name = p_name;
  if p.table_name is not null then
    execute format('delete from %I', p.table_name);
  end if;
  perform wh_notify_all();
  return true;
end
$$;
