-- Frees every stream that these instances hold, claimable from the given time, with the leases on its messages. Returns
-- how many streams it freed.
-- Locks: stream rows, skip locked: a locked one is being reported on or taken over at this moment.
-- Reads by: streams by wh_active_streams_leased (all leases; a rare step); all bookmarks; messages as
--   wh_release_{lane}.
-- Raises: none
-- Called by: deregister_instance, wh_release_instance, wh_remove_stale_instances
create or replace function wh_release_instances(p_instance_ids uuid[], p_available_at timestamptz)
returns int
language plpgsql
-- Rows are looked up one by one, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_outbox uuid[];
  v_inbox uuid[];
begin
  with held as (
    select s.stream_id, s.lane
    from wh_active_streams s
    where s.lane = any(array['outbox', 'inbox']) and s.instance_id is not null and s.instance_id = any(p_instance_ids)
    order by s.stream_id, s.lane
    for no key update skip locked
  ), freed as (
    update wh_active_streams s
    set instance_id = null, lease_expiry = null, available_at = p_available_at
    from held h
    -- "is true" keeps the planner from reading a whole lane by another index than the primary key.
    where s.stream_id = h.stream_id and (s.lane = h.lane) is true
    returning s.stream_id, s.lane
  )
  select array_agg(f.stream_id) filter (where f.lane = 'outbox'), array_agg(f.stream_id) filter (where f.lane = 'inbox')
  into v_outbox, v_inbox
  from freed f;
  -- Whoever takes such a bookmark counts an interruption; deregister_instance has released those of an instance that stops.
  update wh_perspective_bookmarks b set lease_expiry = p_available_at where b.instance_id = any(p_instance_ids) and b.lease_expiry > p_available_at;
  perform wh_release_outbox(v_outbox);
  perform wh_release_inbox(v_inbox);
  return coalesce(cardinality(v_outbox), 0) + coalesce(cardinality(v_inbox), 0);
end
$$;
