-- Every instance that has not been removed: whether it is alive, its share of the partitions, what it asked for when it last
-- called, and what it has done since it started. Written with the heartbeat, so it is up to a second old.
create or replace view wh_instances as
select i.instance_id, i.service_name, i.host_name, i.process_id, i.facts ->> 'version' as version, i.started_at,
       i.last_heartbeat_at, i.last_call_at, not a.lives as is_stale, i.has_joined,
       i.takes_outbox, i.takes_inbox,
       case when a.lives and i.takes_outbox then a.outbox_rank end as outbox_rank,
       case when a.lives and i.takes_inbox then a.inbox_rank end as inbox_rank,
       case when a.lives and i.takes_outbox then round(1.0 / nullif(a.outbox_instances, 0), 4) end as outbox_share,
       case when a.lives and i.takes_inbox then round(1.0 / nullif(a.inbox_instances, 0), 4) end as inbox_share,
       i.inbox_handlers as handlers, i.outbox_room, i.inbox_room, i.outbox_spare, i.inbox_spare,
       i.max_partitions, i.partition_count, i.takeover_seconds, i.lease_seconds, i.stale_threshold_seconds,
       (i.facts ->> 'handled')::bigint as handled, (i.facts ->> 'failed')::bigint as failed,
       (i.facts ->> 'published')::bigint as published, (i.facts ->> 'calls')::bigint as calls,
       (i.facts ->> 'orderViolations')::bigint as order_violations
from wh_service_instances i
cross join lateral (
  select i.last_heartbeat_at >= clock_timestamp() - make_interval(secs => i.stale_threshold_seconds) as lives,
         count(*) filter (where o.takes_outbox and o.instance_id < i.instance_id) as outbox_rank,
         count(*) filter (where o.takes_outbox) as outbox_instances,
         count(*) filter (where o.takes_inbox and o.instance_id < i.instance_id) as inbox_rank,
         count(*) filter (where o.takes_inbox) as inbox_instances
  from wh_service_instances o
  where o.last_heartbeat_at >= clock_timestamp() - make_interval(secs => i.stale_threshold_seconds)
) a;
