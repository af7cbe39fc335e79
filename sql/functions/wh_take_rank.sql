-- Looks where the caller stands among the living instances of each lane, for which partitions it has a head start therefore, and
-- from where admission goes on. Only for calls that have found something to admit or to claim.
-- Reads the instances, and two rows by primary key.
create or replace function wh_take_rank(c wh_call, p_stale_threshold_seconds int)
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
  select case when o.until > v_now then greatest(o.admit_from, c.outbox_floor) else c.outbox_floor end,
         case when n.until > v_now then greatest(n.admit_from, c.inbox_floor) else c.inbox_floor end
  into c.outbox_admit_from, c.inbox_admit_from
  from wh_admission o, wh_admission n
  where o.lane = 'outbox' and n.lane = 'inbox';
  return c;
end
$$;
