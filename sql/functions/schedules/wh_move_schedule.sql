-- Moves a schedule on and sends its messages, in one step: if the caller's plan leads, the schedule still stands at
-- p_from, and that time has come. Otherwise somebody else has moved it, or the clock went back, and nothing happens.
-- Returns whether it moved. Times are milliseconds since 1970.
-- p_from: null makes the schedule, or defines it anew. p_next: null if its pattern has no further time.
-- p_messages: as for wh_send. p_is_direct: they may go straight to the inbox.
-- Locks: as wh_leads_schedules; the row of the schedule, waiting for who moves it; then as wh_send.
-- Reads by: primary key.
-- Raises: WB001, serialization_failure
-- Called by: schedule-functions.ts
create or replace function wh_move_schedule(
  p_instance_id uuid, p_plan text, p_name text, p_cron text, p_time_zone text, p_catch_up text,
  p_from double precision, p_next double precision, p_last double precision, p_messages jsonb default '[]', p_is_direct boolean default false
)
returns boolean
language plpgsql security definer
set search_path from current
as $$
declare
  v_next timestamptz := to_timestamp(p_next / 1000);
begin
  if not wh_leads_schedules(p_instance_id, p_plan) then
    return false;
  end if;
  if p_from is null then
    insert into wh_schedules as s (name, cron, time_zone, catch_up, next_at)
    values (p_name, p_cron, p_time_zone, p_catch_up, v_next)
    on conflict (name) do update
      set cron = excluded.cron, time_zone = excluded.time_zone, catch_up = excluded.catch_up,
          next_at = case when (s.cron, s.time_zone) = (excluded.cron, excluded.time_zone) then s.next_at else excluded.next_at end
      where (s.cron, s.time_zone, s.catch_up) <> (excluded.cron, excluded.time_zone, excluded.catch_up);
    return found;
  end if;
  update wh_schedules s
  set next_at = v_next, last_at = coalesce(to_timestamp(p_last / 1000), s.last_at)
  where s.name = p_name and s.cron = p_cron and s.time_zone = p_time_zone
    and s.next_at = to_timestamp(p_from / 1000) and s.next_at <= clock_timestamp();
  if not found then
    return false;
  end if;
  if p_is_direct then
    perform wh_send(p_messages);
  else
    insert into wh_outbox (message_id, destination, event_type, event_data, metadata, scope, stream_id, is_event, priority)
    select m.message_id, m.target, m.event_type, m.event_data, m.metadata, m.scope, m.stream_id, m.is_event, m.priority
    from unnest((wh_parse_messages('p_messages', 'destination', p_messages, 1)).messages) m
    order by m.ord
    on conflict do nothing;
  end if;
  return true;
end
$$;
