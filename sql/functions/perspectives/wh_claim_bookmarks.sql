-- Leases bookmarks of perspectives that the caller has code for and that have something to do, at most p_room.
-- Returns one item each: the build as destination, its range as partition_number and event_data, the tick as
-- sequence_order. Where only few events wait, event_data also has what wh_take_bookmark would return (taken): so a
-- model is up to date one statement earlier. The functions of a custom perspective write, and take their bookmark in
-- their own transaction. Of one that somebody else is far behind with, a part is asked for. Ranges that have nothing
-- left to read are joined. A bookmark whose lease has ended was held by somebody who died or stalled: that is
-- counted. After the second time, events are taken one by one for a while: one of them may have ended its process.
-- Locks: rows of wh_perspective_bookmarks and wh_perspectives, skip locked.
-- Reads by: all rows of wh_perspectives; bookmarks by primary key, newest first; ticks by primary key, at most 10;
--   as wh_is_due and wh_take_bookmark.
-- Raises: none
-- Called by: wh_claim_perspectives
create or replace function wh_claim_bookmarks(c wh_call, p_codes text[], p_room int)
returns setof wh_work_item
language plpgsql
as $$
declare
  c_careful_events constant int := 500;
  c_few_ticks constant int := 10;
  c_few_events constant int := 50;
  p wh_perspectives;
  b wh_perspective_bookmarks;
  v_newest bigint := (select t.tick from wh_event_ticks t order by t.tick desc limit 1);
  v_cut int;
  v_left int := p_room;
  v_taken json;
begin
  for p in select x.* from wh_perspectives x where x.code = any(p_codes) and not x.is_paused order by x.name loop
    foreach v_cut in array p.cuts loop
      exit when v_left <= 0;
      select x.* into b from wh_perspective_bookmarks x
      where x.name = p.name and x.from_partition = v_cut
      order by x.tick desc, x.upto desc
      limit 1;
      if b.lease_expiry > c.now and b.instance_id <> c.instance_id then
        perform wh_want_split(p, b, c.now);
      end if;
      continue when b.name is null or b.instance_id is not null and b.lease_expiry > c.now;
      continue when not wh_is_due(p, b, c.now, v_newest);
      update wh_perspective_bookmarks x
      set instance_id = c.instance_id, lease_expiry = c.lease_expiry, fence = x.fence + 1, interruptions = x.interruptions + (x.instance_id is not null)::int,
          careful = case when x.instance_id is not null and x.interruptions = 1 then c_careful_events else x.careful end
      from (
        select y.name, y.from_partition, y.tick, y.upto from wh_perspective_bookmarks y
        where y.name = b.name and y.from_partition = b.from_partition and y.tick = b.tick and y.upto = b.upto
          and (y.instance_id is null or y.lease_expiry <= c.now)
        for update skip locked
      ) y
      where x.name = y.name and x.from_partition = y.from_partition and x.tick = y.tick and x.upto = y.upto;
      if found then
        v_left := v_left - 1;
        v_taken := null;
        if p.kind <> 'custom' and b.swept is null and b.tick >= v_newest - c_few_ticks
          and (select sum(t.events) from wh_event_ticks t where t.tick > b.tick) <= c_few_events
        then
          v_taken := wh_take_bookmark(c.instance_id, p.name, b.from_partition, c_few_events);
        end if;
        return query
        select 'perspective', null::uuid, null::uuid, b.from_partition, p.name, null::text,
          jsonb_build_object('from', b.from_partition, 'to', b.to_partition, 'taken', v_taken), null::jsonb, null::jsonb, 0, 0, 0, b.tick, c.lease_expiry;
      end if;
    end loop;
    if cardinality(p.cuts) > 1 then
      perform wh_join_bookmarks(p.name);
    end if;
  end loop;
end
$$;
