-- Who owns which partition: computed from the living instances, stored nowhere. Partition p belongs to the
-- instance of rank p % count, ranks in the order of instance_id. Instances that only send own none.
create or replace view wh_partition_assignments as
with active as (
  select instance_id, last_heartbeat_at, partition_count,
         row_number() over (order by instance_id) - 1 as rank,
         count(*) over () as instances
  from wh_service_instances
  where last_heartbeat_at >= clock_timestamp() - make_interval(secs => stale_threshold_seconds)
    and (takes_outbox or takes_inbox)
)
select p.partition_number, a.instance_id, a.last_heartbeat_at as last_heartbeat
from generate_series(0, (select max(partition_count) from active) - 1) as p(partition_number)
join active a on a.rank = p.partition_number % a.instances;
