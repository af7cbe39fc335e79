-- The streams that instances hold. Ask for them by lease_expiry: those that end soonest come from the head of an index.
create or replace view wh_leases as
select s.lane, s.stream_id, s.partition_number, s.instance_id, i.host_name, i.process_id, i.last_heartbeat_at, s.lease_expiry,
       s.lease_expiry <= clock_timestamp() as is_orphaned
from wh_active_streams s
left join wh_service_instances i on i.instance_id = s.instance_id
where s.instance_id is not null;
