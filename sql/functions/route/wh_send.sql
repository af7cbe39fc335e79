-- Sends messages in a transaction of the application, at any isolation level. What only this schema listens to goes
-- straight to its inbox (at READ COMMITTED, where that can be known), the rest to the outbox, each like a plain insert:
-- unadmitted, in array order. A known id is left out. Returns how many messages were new.
-- [{message_id, destination, event_type, event_data, metadata?, scope?, stream_id?, is_event?, scheduled_for?,
-- delay_seconds?, priority?}]
-- Locks: deduplication rows by message_id, then message rows; it waits only for a call that stores the same ids.
-- Reads by: primary key, and as wh_route.
-- Raises: WB001, serialization_failure
-- Called by: insert-statement.ts, wh_move_bookmark, wh_move_schedule, wh_move_timers, wh_store_streams
create or replace function wh_send(p_messages jsonb)
returns int
language plpgsql security definer
set search_path from current
-- One plan, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set jit = off set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_new wh_parsed := wh_parse_messages('p_messages', 'destination', p_messages, 1);
  v_routed wh_routed;
  v_stored int := 0;
  v_left int := 0;
begin
  if exists (select from unnest(v_new.messages) m where m.expected_version is not null or m.only_with is not null) then
    perform wh_refuse('p_messages', 'has an expected_version or only_with, which only process_work_batch can check');
  end if;
  -- An older snapshot shows neither what waits in the outbox now nor new subscriptions.
  v_routed := case when current_setting('transaction_isolation') = 'read committed' then wh_route(v_new.messages, '{}')
                   else row('{}', v_new.messages)::wh_routed end;
  for v_try in 1..20 loop
    begin
      if v_routed.own <> '{}' then
        v_stored := wh_store_received(v_routed.own);
      end if;
      exit;
    exception
      when unique_violation then
        if v_try = 20 then
          raise exception using
            errcode = 'serialization_failure',
            message = 'wh_send: other transactions kept storing the same messages',
            hint = 'Nothing was stored. Run the transaction again.';
        end if;
    end;
  end loop;
  if v_routed.leaving <> '{}' then
    insert into wh_outbox (message_id, destination, event_type, event_data, metadata, scope, stream_id, is_event, scheduled_for, priority)
    select m.message_id, m.target, m.event_type, m.event_data, m.metadata, m.scope, m.stream_id, m.is_event, m.scheduled_for, m.priority
    from unnest(v_routed.leaving) m
    order by m.ord
    on conflict do nothing;
    get diagnostics v_left = row_count;
  end if;
  return v_stored + v_left;
end
$$;
