-- Priority: what is free is taken in the order of its priority, and then of its time. See docs/decisions/0050.

-- Higher first. Null: none was given, which is 0. So who gives none pays nothing.
alter table wh_outbox add column priority int;
alter table wh_inbox add column priority int;
alter table wh_timers add column priority int;
alter table wh_dead_letters add column priority int;

-- The priority of its first unfinished message; null: 0. Who frees the stream, or lowers its head, sets it.
alter table wh_active_streams add column priority int;

drop index wh_active_streams_free;
create index wh_active_streams_free on wh_active_streams (lane, available_at)
  where instance_id is null and waits_for is null and not is_blocked and priority is null;
create index wh_active_streams_ranked on wh_active_streams (lane, is_blocked, priority desc, available_at)
  where priority is not null and instance_id is null and waits_for is null;

create index wh_outbox_ranked on wh_outbox (priority desc, sequence_order)
  where priority is not null and partition_number is null and processed_at is null;
create index wh_inbox_ranked on wh_inbox (priority desc, sequence_order)
  where priority is not null and partition_number is null and processed_at is null;
