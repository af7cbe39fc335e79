-- The clock of the database has gone back: a failover to a host that is behind, a step of NTP. Moves every time that is relative to
-- "now" back by as much: leases, heartbeats, retries, since when streams wait. They last as long then as they were meant to. A time
-- that a sender has asked for stays: it is a time of the clock. Floors of time begin anew.
-- By as much as the latest note (wh_move_floors) lies ahead of the clock: by a moment too little, never by too much. Once for each step,
-- as the note goes with it, under the locks of both lanes. Streams that somebody has locked at this moment are left as they are: due ones
-- do not depend on the clock, and a call that has taken its time before the step is undone (process_work_batch).
-- Locks: the rows of wh_lanes, then of wh_admission, instances and streams, all skip locked: it never waits. Reads all streams that are
-- held or blocked.
create or replace function wh_follow_clock()
returns void
language plpgsql
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_noted timestamptz;
  v_lanes int;
  v_now timestamptz;
  v_by interval;
begin
  select max(l.next_from), count(*) into v_noted, v_lanes
  from (select * from wh_lanes order by lane for no key update skip locked) l;
  v_now := clock_timestamp();
  if v_lanes < 2 or v_noted <= v_now then
    return;
  end if;
  v_by := v_noted - v_now;
  update wh_lanes
  set free_from = '-infinity', leased_from = '-infinity', next_from = '-infinity', moved_at = '-infinity', swept_at = '-infinity'
  where lane = any(array['outbox', 'inbox']);
  update wh_admission a set until = '-infinity'
  where a.lane = any(array(select o.lane from wh_admission o where o.lane = any(array['outbox', 'inbox']) for no key update skip locked));
  update wh_service_instances i set last_heartbeat_at = i.last_heartbeat_at - v_by
  where i.instance_id = any(array(
    select x.instance_id from wh_service_instances x where x.last_heartbeat_at > v_now for no key update skip locked));
  perform wh_shift_streams_outbox(v_by, v_now);
  perform wh_shift_streams_inbox(v_by, v_now);
end
$$;
