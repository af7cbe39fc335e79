-- The handlers that messages of the inbox wait for and no living instance has named, with the number of streams that wait
-- (counted up to 10 001) and since when.
create or replace view wh_waiting_handlers as
with recursive waiting as (
  (select s.waits_for as handler from wh_active_streams s
   where s.lane = 'inbox' and s.instance_id is null and s.waits_for is not null
   order by s.waits_for limit 1)
  union all
  select (
    select s.waits_for from wh_active_streams s
    where s.lane = 'inbox' and s.instance_id is null and s.waits_for > w.handler
    order by s.waits_for limit 1)
  from waiting w
  where w.handler is not null
)
select w.handler, n.streams, n.since,
       exists (
         select from wh_service_instances i
         where i.takes_inbox and (i.inbox_handlers is null or w.handler = any(i.inbox_handlers))
           and i.last_heartbeat_at >= clock_timestamp() - make_interval(secs => i.stale_threshold_seconds)) as is_handled
from waiting w
cross join lateral (
  select count(*) as streams, min(f.available_at) as since
  from (
    select s.available_at from wh_active_streams s
    where s.lane = 'inbox' and s.instance_id is null and s.waits_for = w.handler
    order by coalesce(s.priority, 0) desc, s.available_at limit 10001
  ) f
) n
where w.handler is not null;
