-- How each lane is doing. Counts stop at 10 001, so the cost does not follow the backlog: 10 001 means "more than 10 000".
-- Streams: due now, held by instances, waiting for their time (a retry or a schedule), waiting for a handler that nobody has,
-- paused by an operator.
create or replace view wh_lane_status as
select l.lane, due.streams as due_streams,
       least(due.since, ripe.since) as oldest_due_at,
       held.streams as leased_streams, held.next_expiry as next_lease_expiry,
       waiting.streams as scheduled_streams, waiting.next_at as next_scheduled_at,
       unhandled.streams as unhandled_streams,
       new.messages as unadmitted_messages,
       dead.letters as dead_letters,
       paused.streams as paused_streams
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
  select count(*) as streams
  from (
    select 1 from wh_active_streams s
    where s.lane = l.lane and s.instance_id is null and s.waits_for is not null
    order by s.waits_for limit 10001
  ) u
) unhandled
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
