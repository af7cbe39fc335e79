-- Stores messages that are not to be sent before their time, in the caller's transaction, at any isolation level. They
-- hold up nobody: each takes its place in its stream when it is due (wh_fire_timers).
-- An id that waits here already, or is unfinished in the outbox, is left out. Returns how many were new.
-- [{message_id, destination, event_type, event_data, metadata?, scope?, stream_id?, is_event?, scheduled_for?,
-- delay_seconds?, only_with?, priority?}]. A delay is counted from here, by the database's clock.
-- p_lost: inbox messages on which a report was refused. What has one of them as only_with is left out.
-- Instances look at least twice a minute, and are notified of what is due before that.
-- Locks: new timer rows by message_id; it waits only for a transaction that sets the same timer.
-- Reads by: primary key.
-- Raises: WB001
-- Called by: process_work_batch, timer-functions.ts
create or replace function wh_set_timers(p_timers jsonb, p_is_direct boolean default false, p_lost uuid[] default '{}')
returns int
language plpgsql security definer
set search_path from current
-- One plan, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set jit = off set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_new wh_parsed := wh_parse_messages('p_new_timers', 'destination', p_timers, 1);
  v_now timestamptz := clock_timestamp();
  v_first timestamptz;
  v_set int;
begin
  if exists (select from unnest(v_new.messages) m where m.expected_version is not null) then
    perform wh_refuse('p_new_timers', 'has an expected_version, which nobody could be told of when the time has come');
  end if;
  with set as (
    insert into wh_timers (message_id, due_at, timer_order, destination, event_type, event_data, metadata, scope, stream_id, is_event, is_direct, priority)
    overriding system value
    select n.message_id, n.due_at, n.timer_order, n.target, n.event_type, n.event_data, n.metadata, n.scope, n.stream_id, n.is_event, p_is_direct, n.priority
    from (
      select o.*, nextval('wh_timers_timer_order_seq') as timer_order
      from (
        select m.*, date_trunc('milliseconds', coalesce(m.scheduled_for, v_now) + interval '999 microseconds') as due_at
        from unnest(v_new.messages) m
        where (m.only_with = any(p_lost)) is not true
          and not exists (select from wh_outbox x where x.message_id = m.message_id and x.processed_at is null)
        order by m.ord
      ) o
    ) n
    order by n.message_id
    on conflict (message_id) do nothing
    returning due_at
  )
  select count(*), min(s.due_at) into v_set, v_first from set s;
  if v_first < v_now + interval '1 minute' then
    perform pg_notify(wh_channel(), 'timer ' || extract(epoch from v_first));
  end if;
  return v_set;
end
$$;
