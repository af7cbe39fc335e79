-- The one door of all coordination: an instance says who it is, what it has done, what it wants stored and how
-- much it can run, and gets what it may run now. One call, one transaction.
-- Promises: strict order within a stream, one holder per stream, nothing lost, nothing stranded; it refuses bad
-- input whole. The cost follows what it stores, completes and hands out.
-- Waits, always in this order and each in the order of its keys, so that calls cannot deadlock: receptor rows,
-- perspective rows, stream rows it reports on, deduplication rows, stream rows it opens, version rows, message
-- rows it stores. After that it never waits: its own stream rows, then skip locked.
-- Raises WB001 (a field is bad), WB002 (a version was not as expected), WB003 (not READ COMMITTED).
create or replace function process_work_batch(
  p_instance_id uuid,
  p_service_name text,
  p_host_name text,
  p_process_id int,
  p_metadata jsonb default null,
  p_outbox_completions jsonb default null,
  p_outbox_failures jsonb default null,
  p_inbox_completions jsonb default null,
  p_inbox_failures jsonb default null,
  p_receptor_completions jsonb default null,
  p_receptor_failures jsonb default null,
  p_perspective_completions jsonb default null,
  p_perspective_failures jsonb default null,
  p_new_outbox_messages jsonb default null,
  p_new_inbox_messages jsonb default null,
  p_renew_outbox_lease_ids uuid[] default null,
  p_renew_inbox_lease_ids uuid[] default null,
  p_flags int default 0,
  p_partition_count int default 10000,
  p_max_partitions_per_instance int default null,
  p_lease_seconds int default 300,
  p_stale_threshold_seconds int default 600,
  p_max_outbox_items int default 1000,
  p_max_inbox_items int default 1000,
  p_max_perspective_items int default 1000,
  p_takeover_seconds numeric default 5
)
returns setof wh_work_item
language plpgsql security definer
set search_path from current
set jit = off set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  c wh_call;
  r wh_reported;
  s wh_stored;
  v_outbox wh_lanes;
  v_inbox wh_lanes;
  v_outbox_messages wh_new_message[] := '{}';
  v_inbox_messages wh_new_message[] := '{}';
  v_outbox_arrivals wh_arrival[] := '{}';
  v_inbox_arrivals wh_arrival[] := '{}';
  v_outbox_room int := p_max_outbox_items;
  v_inbox_room int := p_max_inbox_items;
  v_reports boolean;
  v_stores boolean;
begin
  -- Who calls, and what it says.
  perform wh_check_limits(p_instance_id, p_service_name, p_host_name, p_process_id, p_flags, p_partition_count,
    p_max_partitions_per_instance, p_lease_seconds, p_stale_threshold_seconds, p_max_outbox_items, p_max_inbox_items,
    p_max_perspective_items, p_takeover_seconds);
  if p_new_outbox_messages is not null then
    v_outbox_messages := wh_parse_messages('p_new_outbox_messages', 'destination', p_new_outbox_messages, p_partition_count);
  end if;
  if p_new_inbox_messages is not null then
    v_inbox_messages := wh_parse_messages('p_new_inbox_messages', 'handler_name', p_new_inbox_messages, p_partition_count);
  end if;
  select i.rank, i.instances, i.stale_instances into c.rank, c.instances, c.stale_instances
  from wh_register_instance(p_instance_id, p_service_name, p_host_name, p_process_id, p_metadata, p_partition_count, p_stale_threshold_seconds) i;
  c.instance_id := p_instance_id;
  c.lease_seconds := p_lease_seconds;
  c.keeps_completed := p_flags & 4 <> 0;
  c.partition_count := p_partition_count;
  c.takeover_seconds := p_takeover_seconds;
  c.max_partitions := p_max_partitions_per_instance;
  select l.* into v_outbox from wh_lanes l where l.lane = 'outbox';
  select l.* into v_inbox from wh_lanes l where l.lane = 'inbox';

  -- What was plainly inserted since the last look.
  if v_outbox_room > 0 then
    v_outbox_arrivals := wh_arrivals_outbox(v_outbox.admitted_below, v_outbox_room, v_outbox_messages, p_partition_count);
  end if;
  if v_inbox_room > 0 then
    v_inbox_arrivals := wh_arrivals_inbox(v_inbox.admitted_below, v_inbox_room, v_inbox_messages, p_partition_count);
  end if;
  v_reports := coalesce(p_outbox_completions, p_outbox_failures, p_inbox_completions, p_inbox_failures) is not null
    or coalesce(p_renew_outbox_lease_ids, p_renew_inbox_lease_ids) is not null;
  v_stores := cardinality(v_outbox_messages) + cardinality(v_inbox_messages) + cardinality(v_outbox_arrivals) + cardinality(v_inbox_arrivals) > 0;
  c := wh_take_time(c, v_reports or v_stores);

  -- What the caller has done.
  if coalesce(p_receptor_completions, p_receptor_failures) is not null then
    perform wh_record_receptors(p_receptor_completions, p_receptor_failures);
  end if;
  if coalesce(p_perspective_completions, p_perspective_failures) is not null then
    perform wh_record_perspectives(p_perspective_completions, p_perspective_failures);
  end if;
  if v_reports then
    r := wh_report(c, p_outbox_completions, p_outbox_failures, p_renew_outbox_lease_ids,
      p_inbox_completions, p_inbox_failures, p_renew_inbox_lease_ids);
    return query select * from wh_lost_items('outbox', r.outbox_lost);
    return query select * from wh_lost_items('inbox', r.inbox_lost);
  end if;

  -- What is new: stored, admitted, appended to the event store; leased at once where the stream is clear.
  if v_stores then
    s := wh_store(c, v_outbox_messages, v_inbox_messages, v_outbox_arrivals, v_inbox_arrivals,
      v_outbox_room, v_inbox_room, v_outbox.admitted_below, v_inbox.admitted_below);
    return query select * from unnest(s.outbox_items);
    return query select * from unnest(s.inbox_items);
    v_outbox_room := v_outbox_room - coalesce(cardinality(s.outbox_items), 0);
    v_inbox_room := v_inbox_room - coalesce(cardinality(s.inbox_items), 0);
  end if;

  -- What becomes of the streams it touched. From here nothing waits.
  perform wh_settle_outbox(c, r.outbox_held || s.outbox_unused, r.outbox_cooling);
  perform wh_settle_inbox(c, r.inbox_held || s.inbox_unused, r.inbox_cooling);
  if c.stale_instances > 0 then
    perform wh_remove_stale_instances(p_instance_id, p_stale_threshold_seconds);
  end if;

  -- What it may run now.
  if v_outbox_room > 0 then
    return query select * from wh_claim_outbox(c, v_outbox_room, v_outbox.free_from, v_outbox.leased_from, s.appended);
  end if;
  if v_inbox_room > 0 then
    return query select * from wh_claim_inbox(c, v_inbox_room, v_inbox.free_from, v_inbox.leased_from, s.appended);
  end if;
  perform wh_admit_outbox(s.outbox_admitted);
  perform wh_admit_inbox(s.inbox_admitted);
  if v_reports or v_stores then
    perform wh_move_floors_outbox(c.now, v_outbox.moved_at);
    perform wh_move_floors_inbox(c.now, v_inbox.moved_at);
  end if;
end
$$;
