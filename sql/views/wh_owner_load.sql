-- The load of the partitions by who owns them, each lane in 100 buckets of neighbouring partitions, for a picture. Owner: null if
-- nobody lives who takes from the lane. It reads every stream that has work: for when somebody looks.
create or replace view wh_owner_load as
with living as (
  select l.lane, i.instance_id, i.partition_count,
         row_number() over (partition by l.lane order by i.instance_id) - 1 as rank,
         count(*) over (partition by l.lane) as instances
  from wh_lanes l
  join wh_service_instances i on case l.lane when 'outbox' then i.takes_outbox else i.takes_inbox end
  where i.last_heartbeat_at >= clock_timestamp() - make_interval(secs => i.stale_threshold_seconds)
), loads as (
  -- By partition first, which is one pass over the streams by hash: a quarter of the time that joining and sorting them all takes.
  select s.lane, s.partition_number, count(*) as streams, count(s.instance_id) as leased_streams,
         count(*) filter (where s.instance_id is null and s.waits_for is null and not s.is_blocked) as due_streams,
         count(*) filter (where s.is_blocked) as scheduled_streams,
         min(s.available_at) filter (where s.instance_id is null and s.waits_for is null and not s.is_blocked) as oldest_due_at
  from wh_active_streams s
  group by s.lane, s.partition_number
), lanes as (
  select l.lane, max(v.instances) as instances, coalesce(max(v.partition_count), 10000) as partitions
  from wh_lanes l
  left join living v on v.lane = l.lane
  group by l.lane
)
select g.lane, o.instance_id as owner, g.bucket, g.streams, g.leased_streams, g.due_streams, g.scheduled_streams, g.oldest_due_at
from (
  select s.lane, s.partition_number % n.instances as rank, least(s.partition_number::bigint * 100 / n.partitions, 99)::int as bucket,
         sum(s.streams)::bigint as streams, sum(s.leased_streams)::bigint as leased_streams, sum(s.due_streams)::bigint as due_streams,
         sum(s.scheduled_streams)::bigint as scheduled_streams, min(s.oldest_due_at) as oldest_due_at
  from loads s
  join lanes n on n.lane = s.lane
  group by 1, 2, 3
) g
left join living o on o.lane = g.lane and o.rank = g.rank;
