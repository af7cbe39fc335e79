-- The load of the partitions in 100 buckets per lane, for a picture. It reads every stream that has work: for when somebody looks.
create or replace view wh_partition_load as
select s.lane, (s.partition_number % 100) as bucket, count(*) as streams,
       count(*) filter (where s.instance_id is not null) as leased_streams,
       count(*) filter (where s.instance_id is null and s.waits_for is null and not s.is_blocked) as due_streams,
       count(*) filter (where s.is_blocked and s.available_at < 'infinity') as scheduled_streams,
       min(s.available_at) filter (where s.instance_id is null and s.waits_for is null and not s.is_blocked) as oldest_due_at
from wh_active_streams s
group by s.lane, (s.partition_number % 100);
