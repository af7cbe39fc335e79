-- The only entry point of coordination. An instance says who it is, what it has done, what it wants stored and how much
-- it can run. It gets the messages that it may run now. One call is one transaction. Bad input is refused as a whole.
-- Promises: strict order within a stream, one holder per stream, no lost message, no stranded message. The cost follows
-- what the call stores, completes and hands out. A sleeping worker is notified of what is left to others.
-- Locks: waits in this order, within each kind by key, so that calls cannot deadlock: perspective rows; stream rows it
--   reports on; receptor rows; rows that another call is inserting: timer, deduplication, stream, version, message and
--   event rows. After that it never waits: its own stream rows, then skip locked. See lock-order.md.
-- Reads by: as the functions that it calls.
-- Raises: WB001 (a field is bad), WB002 (a version is not the expected one), WB003 (not READ COMMITTED),
--   serialization_failure (the clock went back, a wait of two leases, or others kept storing the same rows).
-- Called by: wh_transfer, wh_transfer_each, wire.ts
create or replace function process_work_batch(
  p_instance_id uuid, p_service_name text, p_host_name text, p_process_id int, p_metadata jsonb default null,
  p_outbox_completions jsonb default null, p_outbox_failures jsonb default null,
  p_inbox_completions jsonb default null, p_inbox_failures jsonb default null,
  p_receptor_completions jsonb default null, p_receptor_failures jsonb default null,
  p_perspective_completions jsonb default null, p_perspective_failures jsonb default null,
  p_new_outbox_messages jsonb default null, p_new_inbox_messages jsonb default null,
  p_renew_outbox_lease_ids uuid[] default null, p_renew_inbox_lease_ids uuid[] default null,
  p_flags int default 0, p_partition_count int default 10000, p_max_partitions_per_instance int default null,
  p_lease_seconds int default 300, p_stale_threshold_seconds int default 600,
  p_max_outbox_items int default 1000, p_max_inbox_items int default 1000, p_max_perspective_items int default 1000,
  p_takeover_seconds numeric default 5, p_inbox_handlers text[] default null,
  p_spare_outbox_streams int default 0, p_spare_inbox_streams int default 0, p_perspectives text[] default null,
  p_new_timers jsonb default null, p_inbox_limits jsonb default null, p_facts jsonb default null
)
returns setof wh_work_item
language plpgsql security definer
set search_path from current
set jit = off set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  c wh_call; -- who calls, when, and what it may take
  o wh_request; i wh_request; -- what it says of each lane
  s wh_stored; -- what storing came to
  v_seen wh_seen; v_routed wh_routed; v_outbox_room int := p_max_outbox_items; v_inbox_room int := p_max_inbox_items;
  v_outbox_arrived wh_arrived := row('{}', null, false, null, false); v_inbox_arrived wh_arrived := row('{}', null, false, null, false);
  v_outbox_held wh_open_stream[] := '{}'; v_inbox_held wh_open_stream[] := '{}';
  v_outbox_reported wh_reported; v_inbox_reported wh_reported;
  v_outbox_claimed wh_claimed; v_inbox_claimed wh_claimed;
  v_outbox_leased uuid[] := '{}'; v_inbox_leased uuid[] := '{}';
  v_outbox_next uuid[] := '{}'; v_inbox_next uuid[] := '{}';
  v_reports boolean; v_stores boolean; v_outbox_claims boolean; v_inbox_claims boolean; v_is_sound boolean; v_polls boolean; v_few wh_arrival[]; v_took boolean := false; v_in_call text; v_seen_perspectives int; -- assigned: faster than perform, see docs/internals/mechanism.md#plans-that-hold
begin
  -- Who calls, and what it says.
  v_is_sound := wh_check_limits(p_instance_id, p_service_name, p_host_name, p_process_id, p_flags, p_partition_count, p_max_partitions_per_instance, p_lease_seconds,
    p_stale_threshold_seconds, p_max_outbox_items, p_max_inbox_items, p_max_perspective_items, p_takeover_seconds, p_spare_outbox_streams, p_spare_inbox_streams);
  -- The short way of a handler that completes its message in its own transaction.
  if p_max_outbox_items = 0 and p_max_inbox_items = 0 and p_flags & {DebugMode} = 0 and num_nonnulls(p_outbox_completions, p_inbox_completions) = 1
    and num_nonnulls(p_outbox_failures, p_inbox_failures, p_receptor_failures, p_perspective_completions, p_perspective_failures,
      p_new_inbox_messages, p_renew_outbox_lease_ids, p_renew_inbox_lease_ids, p_inbox_handlers, p_new_timers) = 0
    and wh_settle_one(p_instance_id, p_outbox_completions, p_inbox_completions, p_receptor_completions, p_new_outbox_messages,
      p_flags, p_partition_count, p_lease_seconds)
  then return; end if;
  o := wh_read_request('outbox', 'destination', p_new_outbox_messages, p_outbox_completions, p_outbox_failures, p_renew_outbox_lease_ids, p_partition_count);
  i := wh_read_request('inbox', 'handler_name', p_new_inbox_messages, p_inbox_completions, p_inbox_failures, p_renew_inbox_lease_ids, p_partition_count);
  c.inbox_handlers := case when p_inbox_handlers is not null then wh_check_names('p_inbox_handlers', p_inbox_handlers) end;
  c := wh_open_call(c.inbox_handlers, p_instance_id, p_service_name, p_host_name, p_process_id, p_metadata, p_facts, p_flags, p_partition_count, p_max_partitions_per_instance, p_lease_seconds,
    p_stale_threshold_seconds, p_takeover_seconds, v_outbox_room, v_inbox_room, o.renewed <> '{}' or i.renewed <> '{}', p_spare_outbox_streams, p_spare_inbox_streams, p_inbox_limits);
  if p_inbox_limits is not null then c := wh_parse_limits(c, p_inbox_limits); end if; if o.has_ranked or i.has_ranked then c.outbox_ranked := true; c.inbox_ranked := true; end if; c.inbox_late := i.has_late;
  if c.paused is not null then c := wh_without_paused(c); v_inbox_room := case when '' = any(c.paused) then 0 else v_inbox_room end; end if;

  -- What was plainly inserted since the last look. A call that only asks has a short way, if these are few and it can begin them at once.
  v_reports := o.reported <> '{}' or i.reported <> '{}'; v_polls := not v_reports and o.messages = '{}' and i.messages = '{}';
  if v_polls and c.outbox_arrived <> c.inbox_arrived and not c.outbox_due and not c.inbox_due and c.stale_instances = 0
    and num_nonnulls(p_receptor_completions, p_receptor_failures, p_perspective_completions, p_perspective_failures, p_new_timers) = 0 then
    v_few := case when c.inbox_arrived then wh_few_arrivals_inbox(c, v_inbox_room) else wh_few_arrivals_outbox(c, v_outbox_room) end;
    if v_few is not null then c := wh_stamp_call(c, true); s := case when c.inbox_arrived then wh_take_few_inbox(c, v_few) else wh_take_few_outbox(c, v_few) end; end if;
    v_took := num_nonnulls(s.outbox_leased, s.inbox_leased) > 0; c.outbox_arrived := c.outbox_arrived and not v_took; c.inbox_arrived := c.inbox_arrived and not v_took;
  end if;
  if c.outbox_arrived or c.inbox_arrived then
    v_seen := wh_see_arrivals(c, v_outbox_room, v_inbox_room, v_polls, p_stale_threshold_seconds);
    c := v_seen.call; v_outbox_arrived := v_seen.outbox; v_inbox_arrived := v_seen.inbox;
  end if;
  v_stores := v_took or o.messages <> '{}' or i.messages <> '{}' or v_outbox_arrived.arrivals <> '{}' or v_inbox_arrived.arrivals <> '{}'; if not v_took then c := wh_stamp_call(c, v_reports or v_stores); end if;

  -- What the caller has done.
  if num_nonnulls(p_perspective_completions, p_perspective_failures) > 0 then perform wh_record_perspectives(p_perspective_completions, p_perspective_failures); end if;
  if v_reports then
    if v_outbox_room = 0 and v_inbox_room = 0 then perform wh_end_if_stalled(p_lease_seconds); end if;
    if o.reported <> '{}' then v_outbox_held := wh_lock_reported_outbox(c, o.reported); end if;
    if i.reported <> '{}' then
      v_inbox_held := wh_lock_reported_inbox(c, i.reported);
      v_inbox_reported := wh_report_inbox(c, i.completions, i.failures, i.renewed, i.reported);
    end if;
    if o.reported <> '{}' then v_outbox_reported := wh_report_outbox(c, o.completions, o.failures, o.renewed, o.reported); end if;
    c.outbox_cooling := v_outbox_reported.cooling;
    c.inbox_cooling := v_inbox_reported.cooling;
    if v_outbox_reported.lost <> '{}' then return query select * from wh_lost_items('outbox', v_outbox_reported.lost); end if;
    if v_inbox_reported.lost <> '{}' then return query select * from wh_lost_items('inbox', v_inbox_reported.lost); end if;
  end if;
  if num_nonnulls(p_receptor_completions, p_receptor_failures) > 0 then perform wh_record_receptors(c.now, p_receptor_completions, p_receptor_failures, coalesce(v_inbox_reported.lost, '{}')); end if;

  -- What is new: told apart by where it goes, stored, admitted, appended to the event store; leased at once where the stream is clear.
  if p_new_timers is not null then perform wh_set_timers(p_new_timers, p_flags & {Direct} <> 0, coalesce(v_inbox_reported.lost, '{}')); end if;
  if o.has_conditions then o.messages := wh_pick_accepted_messages(o.messages, i.reported, coalesce(v_inbox_reported.lost, '{}')); end if;
  if p_flags & {Direct} <> 0 and o.messages <> '{}' then
    v_routed := wh_route(o.messages, i.messages); o.messages := v_routed.leaving; i.messages := v_routed.own; end if;
  if v_outbox_room > 0 and (o.messages <> '{}' and o.has_events or v_outbox_arrived.arrivals <> '{}') then
    v_inbox_arrived.arrivals := wh_with_own_events(c, o.messages, v_outbox_arrived.arrivals, v_inbox_arrived.arrivals);
  end if;
  if v_stores then
    v_in_call := set_config('whizbang.in_call', current_schema(), true);
    s := case when v_took then s else wh_store(c, o.messages, i.messages, v_outbox_arrived.arrivals, v_inbox_arrived.arrivals, v_outbox_held, v_inbox_held, v_outbox_room, v_inbox_room,
      o.has_events or i.has_events, o.has_scheduled or i.has_scheduled) end;
    v_in_call := set_config('whizbang.in_call', '', true);
    if p_flags & {Duplicate} <> 0 and (s.outbox_known <> '{}' or s.inbox_known <> '{}') then return query select * from wh_known_items(s); end if;
    v_outbox_leased := coalesce(s.outbox_leased, '{}'); v_inbox_leased := coalesce(s.inbox_leased, '{}');
    v_outbox_room := v_outbox_room - cardinality(v_outbox_leased); v_inbox_room := v_inbox_room - cardinality(v_inbox_leased);
    if cardinality(o.messages) + cardinality(i.messages) > cardinality(v_outbox_leased) + cardinality(v_inbox_leased) then perform wh_notify_watch(); end if;
  end if;

  -- What becomes of the streams it touched. From here nothing waits.
  v_outbox_claims := v_outbox_room > 0 and (c.outbox_due or c.stale_instances > 0 or o.reported <> '{}' or o.messages <> '{}' or v_outbox_arrived.arrivals <> '{}');
  v_inbox_claims := v_inbox_room > 0 and (c.inbox_due or c.stale_instances > 0 or i.reported <> '{}' or i.messages <> '{}' or v_inbox_arrived.arrivals <> '{}');
  if (v_outbox_claims or v_inbox_claims) and c.outbox_instances is null then c := wh_rank_caller(c, p_stale_threshold_seconds); end if;
  if v_outbox_held <> '{}' or s.outbox_unused <> '{}' then
    v_outbox_next := wh_settle_outbox(c, wh_pick_streams_to_settle(v_outbox_held, s.outbox_busy, s.outbox_unused), v_outbox_claims, v_outbox_reported);
  end if;
  if v_inbox_held <> '{}' or s.inbox_unused <> '{}' then
    v_inbox_next := wh_settle_inbox(c, wh_pick_streams_to_settle(v_inbox_held, s.inbox_busy, s.inbox_unused), v_inbox_claims, v_inbox_reported);
  end if;
  if c.stale_instances > 0 then perform wh_remove_stale_instances(c, p_stale_threshold_seconds); end if;

  -- What it may run now: what was due at the beginning, or may be by what the call has done.
  if v_outbox_claims then
    v_outbox_claimed := wh_claim_all_outbox(c, v_outbox_room, s.appended, v_outbox_next);
    v_outbox_leased := v_outbox_leased || v_outbox_claimed.message_ids;
  end if;
  if v_inbox_claims then
    v_inbox_claimed := wh_claim_all_inbox(c, v_inbox_room, s.appended, v_inbox_next);
    v_inbox_leased := v_inbox_leased || v_inbox_claimed.message_ids;
  end if;
  if c.outbox_arrived then perform wh_admit_outbox(c, v_outbox_arrived, s.outbox_admitted, v_outbox_leased); end if;
  if c.inbox_arrived or v_inbox_arrived.arrivals <> '{}' then perform wh_admit_inbox(c, v_inbox_arrived, s.inbox_admitted, v_inbox_leased); end if;
  if clock_timestamp() not between c.now and c.now + make_interval(secs => c.lease_seconds / 4.0) then
    select r.outbox, r.inbox into v_outbox_leased, v_inbox_leased from wh_renew_after_wait(c, v_outbox_leased, v_inbox_leased) r;
  end if;
  if (v_reports or v_stores or c.outbox_arrived or c.inbox_arrived or c.sweeps) and c.noted_at is not null then
    perform wh_move_floors_outbox(c);
    perform wh_move_floors_inbox(c);
  end if;
  if p_perspectives is not null then v_seen_perspectives := wh_look_for_perspectives(c.now, p_perspectives, p_max_perspective_items, (o.has_events or i.has_events or s.appended <> '{}') is true); end if;
  if v_seen_perspectives > 0 then return query select * from wh_claim_perspectives(c, p_perspectives, p_max_perspective_items, p_flags, v_seen_perspectives); end if;
  if v_outbox_leased <> '{}' then return query select * from wh_items_outbox(v_outbox_leased, c.outbox_ranked); end if;
  if v_inbox_leased <> '{}' then return query select * from wh_items_inbox(v_inbox_leased, c.inbox_ranked); end if;
  if p_flags & {LookAgain} <> 0 and (wh_should_look_again(v_outbox_leased, v_outbox_claimed, v_outbox_arrived, s.outbox_admitted)
    or wh_should_look_again(v_inbox_leased, v_inbox_claimed, v_inbox_arrived, s.inbox_admitted)) then return query select * from wh_look_again(); end if;
end
$$;
