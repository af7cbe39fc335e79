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
  v_outbox wh_new_message[] := '{}';
  v_inbox wh_new_message[] := '{}';
  v_outbox_arrivals wh_arrival[] := '{}';
  v_inbox_arrivals wh_arrival[] := '{}';
  v_outbox_room int := p_max_outbox_items;
  v_inbox_room int := p_max_inbox_items;
  v_has_events boolean := false;
  v_has_scheduled boolean := false;
  v_reports boolean := p_outbox_completions is not null or p_outbox_failures is not null or p_inbox_completions is not null
    or p_inbox_failures is not null or p_renew_outbox_lease_ids is not null or p_renew_inbox_lease_ids is not null;
  v_stores boolean;
begin
  -- Who calls, and what it says.
  perform wh_check_limits(p_instance_id, p_service_name, p_host_name, p_process_id, p_flags, p_partition_count,
    p_max_partitions_per_instance, p_lease_seconds, p_stale_threshold_seconds, p_max_outbox_items, p_max_inbox_items,
    p_max_perspective_items, p_takeover_seconds);
  if p_new_outbox_messages is not null then
    select m.messages, m.has_events, m.has_scheduled into v_outbox, v_has_events, v_has_scheduled
    from wh_parse_messages('p_new_outbox_messages', 'destination', p_new_outbox_messages, p_partition_count) m;
  end if;
  if p_new_inbox_messages is not null then
    select m.messages, m.has_events or v_has_events, m.has_scheduled or v_has_scheduled into v_inbox, v_has_events, v_has_scheduled
    from wh_parse_messages('p_new_inbox_messages', 'handler_name', p_new_inbox_messages, p_partition_count) m;
  end if;
  c := wh_open_call(p_instance_id, p_service_name, p_host_name, p_process_id, p_metadata, p_flags, p_partition_count,
    p_max_partitions_per_instance, p_lease_seconds, p_stale_threshold_seconds, p_takeover_seconds);

  -- What was plainly inserted since the last look.
  if v_outbox_room > 0 then
    v_outbox_arrivals := wh_arrivals_outbox(c, v_outbox_room, v_outbox);
  end if;
  if v_inbox_room > 0 then
    v_inbox_arrivals := wh_arrivals_inbox(c, v_inbox_room, v_inbox);
  end if;
  v_stores := cardinality(v_outbox) + cardinality(v_inbox) + cardinality(v_outbox_arrivals) + cardinality(v_inbox_arrivals) > 0;
  c := wh_take_time(c, v_reports or v_stores);

  -- What the caller has done.
  if p_receptor_completions is not null or p_receptor_failures is not null then
    perform wh_record_receptors(p_receptor_completions, p_receptor_failures);
  end if;
  if p_perspective_completions is not null or p_perspective_failures is not null then
    perform wh_record_perspectives(p_perspective_completions, p_perspective_failures);
  end if;
  if v_reports then
    r := wh_report(c, p_outbox_completions, p_outbox_failures, p_renew_outbox_lease_ids,
      p_inbox_completions, p_inbox_failures, p_renew_inbox_lease_ids);
    if r.outbox_lost <> '{}' or r.inbox_lost <> '{}' then
      return query select * from wh_lost_items(r.outbox_lost, r.inbox_lost);
    end if;
  end if;

  -- What is new: stored, admitted, appended to the event store; leased at once where the stream is clear.
  if v_stores then
    s := wh_store(c, v_outbox, v_inbox, v_outbox_arrivals, v_inbox_arrivals, v_outbox_room, v_inbox_room, v_has_events, v_has_scheduled);
    if s.outbox_items is not null or s.inbox_items is not null then
      return query select * from unnest(s.outbox_items || s.inbox_items);
      v_outbox_room := v_outbox_room - coalesce(cardinality(s.outbox_items), 0);
      v_inbox_room := v_inbox_room - coalesce(cardinality(s.inbox_items), 0);
    end if;
  end if;

  -- What becomes of the streams it touched. From here nothing waits.
  perform wh_settle_outbox(c, r.outbox_held || s.outbox_unused, r.outbox_cooling);
  perform wh_settle_inbox(c, r.inbox_held || s.inbox_unused, r.inbox_cooling);
  if c.stale_instances > 0 then
    perform wh_remove_stale_instances(p_instance_id, p_stale_threshold_seconds);
  end if;

  -- What it may run now.
  if v_outbox_room > 0 then
    return query select * from wh_claim_outbox(c, v_outbox_room, s.appended);
  end if;
  if v_inbox_room > 0 then
    return query select * from wh_claim_inbox(c, v_inbox_room, s.appended);
  end if;
  perform wh_admit_outbox(s.outbox_admitted);
  perform wh_admit_inbox(s.inbox_admitted);
  if (v_reports or v_stores) and c.floors_moved_at < c.now - interval '1 second' then
    perform wh_move_floors_outbox(c.now);
    perform wh_move_floors_inbox(c.now);
  end if;
end
$$;
