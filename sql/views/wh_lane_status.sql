-- How each lane is doing. Counts stop at 10 001, so the cost does not follow the backlog: 10 001 means "more than 10 000".
-- Streams: due now, held by instances, waiting for their time (a retry or a schedule), waiting for a handler that no living
-- instance has, waiting at a limit, paused by an operator.
create or replace view wh_lane_status as
select l.lane, least(case when intake.is_paused then 0 else due.streams end + waits.due, 10001) as due_streams,
       case when intake.is_paused then null else least(due.since, ripe.since, waits.due_since) end as oldest_due_at,
       held.streams as leased_streams, held.next_expiry as next_lease_expiry,
       waiting.streams as scheduled_streams, waiting.next_at as next_scheduled_at,
       waits.unhandled as unhandled_streams,
       new.messages as unadmitted_messages,
       dead.letters as dead_letters,
       least(paused.streams + waits.paused + case when intake.is_paused then due.streams else 0 end, 10001) as paused_streams,
       waits.limited as limited_streams
from wh_lanes l
cross join lateral (
  select count(*) as streams, min(d.available_at) as since
  from (
    select s.available_at from wh_active_streams s
    where s.lane = l.lane and s.instance_id is null and s.waits_for is null and not s.is_blocked
    order by s.available_at limit 10001
  ) d
) due
cross join lateral (
  select min(b.available_at) as since
  from (
    select s.available_at from wh_active_streams s
    where s.lane = l.lane and s.is_blocked and s.available_at <= clock_timestamp()
    order by s.available_at limit 1
  ) b
) ripe
cross join lateral (
  select count(*) as streams, min(h.lease_expiry) as next_expiry
  from (
    select s.lease_expiry from wh_active_streams s
    where s.lane = l.lane and s.instance_id is not null
    order by s.lease_expiry limit 10001
  ) h
) held
cross join lateral (
  select count(*) as streams, min(w.available_at) as next_at
  from (
    select s.available_at from wh_active_streams s
    where s.lane = l.lane and s.is_blocked and s.available_at < 'infinity'
    order by s.available_at limit 10001
  ) w
) waiting
cross join lateral (
  select least(coalesce(sum(h.streams) filter (where h.state = 'due'), 0), 10001)::bigint as due,
         min(h.since) filter (where h.state = 'due') as due_since,
         least(coalesce(sum(h.streams) filter (where h.state = 'no-handler'), 0), 10001)::bigint as unhandled,
         least(coalesce(sum(h.streams) filter (where h.state = 'limited'), 0), 10001)::bigint as limited,
         least(coalesce(sum(h.streams) filter (where h.state = 'paused'), 0), 10001)::bigint as paused
  from wh_waiting_handlers h
  where l.lane = 'inbox'
) waits
cross join lateral (
  select l.lane = 'inbox' and {intake_is_paused} as is_paused
) intake
cross join lateral (
  select case l.lane
    when 'outbox' then (select count(*) from (
      select 1 from wh_outbox m where m.partition_number is null and m.processed_at is null order by m.sequence_order limit 10001) n)
    else (select count(*) from (
      select 1 from wh_inbox m where m.partition_number is null and m.processed_at is null order by m.sequence_order limit 10001) n)
  end as messages
) new
cross join lateral (
  select case l.lane
    when 'outbox' then (select count(*) from (
      select 1 from wh_dead_letters d where d.source = 'outbox' order by d.dead_letter_id limit 10001) n)
    else (select count(*) from (
      select 1 from wh_dead_letters d where d.source = 'inbox' order by d.dead_letter_id limit 10001) n)
  end as letters
) dead
cross join lateral (
  select count(*) as streams
  from (
    select 1 from wh_active_streams s
    where s.lane = l.lane and s.is_blocked and s.available_at = 'infinity'
    order by s.available_at limit 10001
  ) p
) paused;
