-- Ends all leases of an instance now: its streams are due, and others may take them. What it reports later is refused.
-- It may take streams again, if it still runs. Returns how many streams and bookmarks were freed.
-- Locks: stream rows of the instance, outbox before inbox, by stream_id; it waits, so that no stream is left behind.
--   Then its bookmarks and the message rows.
-- Reads by: streams by wh_active_streams_leased; all bookmarks.
-- Raises: none
-- Called by: action-functions.ts
create or replace function wh_release_instance(p_instance_id uuid, p_who text default null)
returns int
language plpgsql security definer
set search_path from current
-- One plan, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set jit = off set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_freed int;
  v_bookmarks int;
begin
  -- Before it reads the clock; see wh_stamp_call.
  perform pg_current_xact_id();
  perform 1
  from wh_active_streams s
  where s.lane = any(array['outbox', 'inbox']) and s.instance_id is not null and s.instance_id = p_instance_id
  order by s.lane desc, s.stream_id
  for no key update;
  select count(*) into v_bookmarks
  from wh_perspective_bookmarks b
  where b.instance_id = p_instance_id and b.lease_expiry > clock_timestamp();
  v_freed := wh_release_instances(array[p_instance_id], clock_timestamp());
  if v_freed + v_bookmarks > 0 then
    perform wh_note_operation(p_who, 'release-instance', 'instance ' || p_instance_id,
      jsonb_build_object('streams', v_freed, 'bookmarks', v_bookmarks));
    perform wh_notify_all();
  end if;
  return v_freed + v_bookmarks;
end
$$;
