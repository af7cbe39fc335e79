-- Moves up to p_limit due timers to where they would have been sent without a delay, in the order of their times:
-- straight to the inbox or to the outbox, each like a plain insert. Returns how many. One try of wh_fire_timers.
-- p_passed: timers that are left out, with all that is behind them in their streams.
-- A timer that somebody is cancelling is passed by.
-- Locks: timer rows, skip locked; then as wh_send, and outbox rows by message_id; it waits for a call that stores the
--   same ids, as long as lock_timeout allows.
-- Reads by: the first entries of wh_timers_due.
-- Raises: lock_not_available, serialization_failure
-- Called by: wh_fire_timers
create or replace function wh_move_timers(p_now timestamptz, p_limit int, p_passed uuid[])
returns int
language plpgsql
as $$
declare
  v_moved wh_timers[];
begin
  with due as (
    select t.message_id
    from wh_timers t
    where t.due_at <= p_now
      and (p_passed = '{}' or coalesce(t.stream_id, t.message_id) <> all(p_passed))
    order by t.due_at, t.timer_order
    limit p_limit
    for update skip locked
  ), moved as (
    delete from wh_timers t where t.message_id = any(array(select d.message_id from due d)) returning t::wh_timers as timer
  )
  select array_agg(m.timer order by (m.timer).due_at, (m.timer).timer_order) into v_moved from moved m;
  insert into wh_outbox (message_id, destination, event_type, event_data, metadata, scope, stream_id, is_event, priority)
  select t.message_id, t.destination, t.event_type, t.event_data, t.metadata, t.scope, t.stream_id, t.is_event, t.priority
  from unnest(v_moved) t
  where not t.is_direct
  order by t.due_at, t.timer_order
  on conflict do nothing;
  perform wh_send(jsonb_agg(jsonb_build_object(
    'message_id', t.message_id, 'destination', t.destination, 'event_type', t.event_type, 'event_data', t.event_data,
    'metadata', t.metadata, 'scope', t.scope, 'stream_id', t.stream_id, 'is_event', t.is_event, 'priority', t.priority) order by t.due_at, t.timer_order))
  from unnest(v_moved) t
  where t.is_direct
  having count(*) > 0;
  return coalesce(cardinality(v_moved), 0);
end
$$;
