-- Follows a database clock that has gone back, after a failover to a host that is behind or a step of NTP.
-- It moves every time that is relative to "now" back by the same amount: leases, heartbeats, retries, and since when
-- streams wait. So they last as long as intended. A time that a sender asked for is a time of the clock and stays.
-- Floors of time begin anew.
-- The amount is how far the latest note (wh_move_floors_{lane}) lies ahead of the clock: slightly too little, never too
-- much. It happens once per step, because the note is reset too.
-- Calls that began before the step are undone (process_work_batch, wh_stamp_call). Calls that begin after it wait for
-- this one (wh_open_call).
-- If a transaction holds a lane or a stream for longer than 200 ms, that lane or stream is left as it is: due streams
-- do not depend on the clock, and a lease that lasts too long ends when its holder is stale.
-- Locks: rows of wh_lanes, waiting up to 200 ms; admission marks and instances, skip locked; streams as
--   wh_shift_streams_{lane}; bookmarks and held models, skip locked.
-- Reads by: primary key; all instances; all streams that are held, blocked or due; all bookmarks.
-- Raises: none
-- Called by: wh_open_call
create or replace function wh_follow_clock()
returns void
language plpgsql
-- Rows are looked up one by one, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_hashjoin = off set enable_mergejoin = off
set lock_timeout = '200ms'
as $$
declare
  v_noted timestamptz;
  v_now timestamptz;
begin
  select max(l.next_from) into v_noted
  from (select * from wh_lanes order by lane for no key update) l;
  v_now := clock_timestamp();
  if v_noted is null or v_noted <= v_now then
    return;
  end if;
  update wh_lanes
  set free_from = '-infinity', leased_from = '-infinity', next_from = '-infinity', moved_at = '-infinity', swept_at = '-infinity'
  where lane = any(array['outbox', 'inbox']);
  update wh_admission a set until = '-infinity'
  where a.lane = any(array(select o.lane from wh_admission o where o.lane = any(array['outbox', 'inbox']) for no key update skip locked));
  update wh_service_instances i set last_heartbeat_at = i.last_heartbeat_at - (v_noted - v_now)
  where i.instance_id = any(array(
    select x.instance_id from wh_service_instances x where x.last_heartbeat_at > v_now for no key update skip locked));
  perform wh_shift_bookmarks(v_noted, v_now);
  perform wh_shift_streams_outbox(v_noted, v_now);
  perform wh_shift_streams_inbox(v_noted, v_now);
exception
  when lock_not_available then null; -- the next call tries again
end
$$;
