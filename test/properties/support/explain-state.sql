-- Writes a state, asks explain about two messages, lets each living instance call, and returns where the two differ.
-- Nothing of it is kept: the test rolls back, and each call is undone by an error.
create function check_state(p jsonb) returns jsonb language plpgsql as $$
declare
  v_now timestamptz := clock_timestamp();
  i record;
  m record;
  v_explained jsonb := '{}';
  v_taken uuid[];
  v_differences jsonb := '[]';
  v_codes jsonb := '[]';
begin
  insert into wh_service_instances (instance_id, service_name, host_name, process_id, last_heartbeat_at, last_call_at, takes_outbox, takes_inbox, partition_count,
    stale_threshold_seconds, lease_seconds, outbox_room, inbox_room, outbox_spare, inbox_spare, max_partitions, takeover_seconds, inbox_handlers, inbox_limits)
  select r.instance_id, 'shop', 'host-1', 1, v_now - make_interval(secs => r.heartbeat_ago), v_now, r.takes_outbox, r.takes_inbox, 8, r.stale_threshold_seconds, 60,
    r.outbox_room, r.inbox_room, r.outbox_spare, r.inbox_spare, r.max_partitions, r.takeover_seconds, r.inbox_handlers, r.inbox_limits
  from jsonb_to_recordset(p -> 'instances') as r(instance_id uuid, heartbeat_ago float8, takes_outbox boolean, takes_inbox boolean, stale_threshold_seconds int,
    outbox_room int, inbox_room int, outbox_spare int, inbox_spare int, max_partitions int, takeover_seconds numeric, inbox_handlers text[], inbox_limits jsonb);
  update wh_lanes l
  set admitted_below = r.admitted_below, paused = r.paused, moved_at = v_now, swept_at = v_now,
    free_from = coalesce(v_now - make_interval(secs => r.free_from_ago), '-infinity'), leased_from = coalesce(v_now - make_interval(secs => r.free_from_ago), '-infinity')
  from jsonb_to_recordset(p -> 'lanes') as r(lane text, admitted_below bigint, free_from_ago float8, paused text[])
  where l.lane = r.lane;
  insert into wh_event_streams (stream_id, version) select v::uuid, 0 from jsonb_array_elements_text(p -> 'versions') v;
  insert into wh_active_streams (stream_id, lane, partition_number, instance_id, lease_expiry, available_at, head, held_through, waits_for, is_blocked, priority)
  select r.stream_id, r.lane, wh_partition(r.stream_id, 8), r.instance_id, v_now - make_interval(secs => r.lease_ago), v_now - make_interval(secs => r.available_ago),
    r.head, r.held_through, r.waits_for, r.is_blocked, r.priority
  from jsonb_to_recordset(p -> 'streams') as r(stream_id uuid, lane text, instance_id uuid, lease_ago float8, available_ago float8, head bigint, held_through bigint,
    waits_for text, is_blocked boolean, priority int);
  for m in
    select r.*, case when r.is_admitted then wh_partition(r.stream_id, 8) end as partition_number, v_now - make_interval(secs => r.scheduled_ago) as scheduled_for,
      v_now - make_interval(secs => r.processed_ago) as processed_at, v_now - make_interval(secs => r.lease_ago) as lease_expiry
    from jsonb_to_recordset(p -> 'messages') as r(lane text, message_id uuid, stream_id uuid, target text, is_event boolean, is_admitted boolean, status int,
      sequence_order bigint, scheduled_ago float8, processed_ago float8, waits_at text, instance_id uuid, lease_ago float8, priority int)
  loop
    if m.lane = 'inbox' then
      insert into wh_inbox (message_id, handler_name, event_type, event_data, stream_id, is_event, status, sequence_order, partition_number, scheduled_for, processed_at,
        waits_at, instance_id, lease_expiry, priority)
      values (m.message_id, m.target, 'T', '{}', m.stream_id, m.is_event, m.status, m.sequence_order, m.partition_number, m.scheduled_for, m.processed_at,
        m.waits_at, m.instance_id, m.lease_expiry, m.priority);
    else
      insert into wh_outbox (message_id, destination, event_type, event_data, stream_id, is_event, status, sequence_order, partition_number, scheduled_for, processed_at,
        instance_id, lease_expiry, priority)
      values (m.message_id, m.target, 'T', '{}', m.stream_id, m.is_event, m.status, m.sequence_order, m.partition_number, m.scheduled_for, m.processed_at,
        m.instance_id, m.lease_expiry, m.priority);
    end if;
  end loop;
  for m in
    select u.message_id
    from (select message_id, processed_at from wh_inbox union all select message_id, processed_at from wh_outbox) u
    where u.processed_at is null
    order by u.message_id limit 2
  loop
    v_explained := v_explained || jsonb_build_object(m.message_id,
      (select jsonb_object_agg(e.facts ->> 'instance_id', e.code) from wh_explain_message(m.message_id) e where e.facts ? 'can_take'));
  end loop;
  for i in select * from wh_service_instances x where x.last_heartbeat_at >= v_now - make_interval(secs => x.stale_threshold_seconds) loop
    begin
      v_taken := array(select w.message_id from process_work_batch(p_instance_id => i.instance_id, p_service_name => 'shop', p_host_name => 'host-1', p_process_id => 1,
        p_partition_count => 8, p_max_partitions_per_instance => i.max_partitions, p_lease_seconds => 60, p_stale_threshold_seconds => i.stale_threshold_seconds,
        p_max_outbox_items => i.outbox_room, p_max_inbox_items => i.inbox_room, p_takeover_seconds => i.takeover_seconds, p_inbox_handlers => i.inbox_handlers,
        p_spare_outbox_streams => i.outbox_spare, p_spare_inbox_streams => i.inbox_spare, p_inbox_limits => i.inbox_limits) w);
      raise exception using errcode = 'ZZ001';
    exception
      when sqlstate 'ZZ001' then null;
    end;
    select v_codes || coalesce(jsonb_agg(e.value -> i.instance_id::text), '[]'),
      v_differences || coalesce(jsonb_agg(jsonb_build_object('instance', i.instance_id, 'message', e.key, 'code', e.value -> i.instance_id::text, 'taken', e.key::uuid = any(v_taken)))
        filter (where (e.value ->> i.instance_id::text = 'claimable-now') is distinct from (e.key::uuid = any(v_taken))), '[]')
    into v_codes, v_differences
    from jsonb_each(v_explained) e;
  end loop;
  return jsonb_build_object('differences', v_differences, 'codes', v_codes);
end
$$;
