-- Ends the leases of an instance now, as their time would: its process is gone, as the caller has seen on the
-- machine that the instance has named. Who claims a message of it counts an interruption, as always.
-- Returns how many streams it held, or null with nothing done: the instance is not known, has named another
-- machine, or has called within the last two seconds. One that has gone does not call.
-- Locks: stream rows of the instance, outbox before inbox, by stream_id; it waits, so that a last call of the
--   instance has ended. Then their messages, and its bookmarks.
-- Reads by: the instance by primary key; streams by wh_active_streams_leased; messages by wh_{lane}_stream; all
--   bookmarks.
-- Raises: none
-- Called by: local-functions.ts
create or replace function wh_end_leases(p_instance_id uuid, p_machine text)
returns int
language plpgsql security definer
set search_path from current
-- One plan, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set jit = off set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_outbox uuid[];
  v_inbox uuid[];
  v_now timestamptz;
begin
  perform from wh_service_instances i
  where i.instance_id = p_instance_id and i.facts ->> 'machine' = p_machine
    and i.last_heartbeat_at < clock_timestamp() - interval '2 seconds';
  if not found then
    return null;
  end if;
  -- Before it reads the clock; see wh_stamp_call.
  perform pg_current_xact_id();
  with held as (
    select s.stream_id, s.lane
    from wh_active_streams s
    where s.lane = any(array['outbox', 'inbox']) and s.instance_id is not null and s.instance_id = p_instance_id
    order by s.lane desc, s.stream_id
    for no key update
  )
  select array_agg(h.stream_id) filter (where h.lane = 'outbox'), array_agg(h.stream_id) filter (where h.lane = 'inbox')
  into v_outbox, v_inbox
  from held h;
  v_now := clock_timestamp();
  update wh_active_streams s set lease_expiry = v_now
  from (select k, 'outbox' as lane from unnest(v_outbox) k union all select k, 'inbox' from unnest(v_inbox) k) h
  -- "is true" keeps the planner from reading a whole lane by another index than the primary key.
  where s.stream_id = h.k and (s.lane = h.lane) is true and s.instance_id = p_instance_id and s.lease_expiry > v_now;
  update wh_outbox m set lease_expiry = v_now
  where m.stream_key = any(v_outbox) and m.processed_at is null and m.instance_id = p_instance_id and m.lease_expiry > v_now;
  update wh_inbox m set lease_expiry = v_now
  where m.stream_key = any(v_inbox) and m.processed_at is null and m.instance_id = p_instance_id and m.lease_expiry > v_now;
  update wh_perspective_bookmarks b set lease_expiry = v_now where b.instance_id = p_instance_id and b.lease_expiry > v_now;
  return coalesce(cardinality(v_outbox), 0) + coalesce(cardinality(v_inbox), 0);
end
$$;
