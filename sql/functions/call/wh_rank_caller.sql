-- Finds the caller's rank among the living instances of each lane, which says for which partitions it has a head start,
-- and where admission continues.
-- Only for calls that have found something to admit or to claim.
-- Locks: none
-- Reads by: all instances; wh_admission by primary key.
-- Raises: none
-- Called by: process_work_batch, wh_poll_of, wh_see_arrivals
create or replace function wh_rank_caller(c wh_call, p_stale_threshold_seconds int)
returns wh_call
language plpgsql
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_stale_before timestamptz := v_now - make_interval(secs => p_stale_threshold_seconds);
begin
  select count(*) filter (where i.takes_outbox and i.instance_id < c.instance_id),
         count(*) filter (where i.takes_outbox) + 1,
         count(*) filter (where i.takes_inbox and i.instance_id < c.instance_id),
         count(*) filter (where i.takes_inbox) + 1
  into c.outbox_rank, c.outbox_instances, c.inbox_rank, c.inbox_instances
  from wh_service_instances i
  where i.last_heartbeat_at >= v_stale_before and i.instance_id <> c.instance_id;
  -- A mark that lasts for more than a second was made before the clock went back.
  select greatest(max(a.admit_from) filter (where a.lane = 'outbox'), c.outbox_floor),
         greatest(max(a.admit_from) filter (where a.lane = 'inbox'), c.inbox_floor)
  into c.outbox_admit_from, c.inbox_admit_from
  from wh_admission a
  where a.lane = any(array['outbox', 'inbox']) and a.until between v_now and v_now + interval '1 second';
  return c;
end
$$;
