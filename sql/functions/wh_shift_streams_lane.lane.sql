-- Moves the times of a lane's streams back, with those of their messages, that lie ahead of a clock that has gone back (wh_follow_clock).
-- Locks: stream rows, skip locked. Reads all that are held, blocked or due, then their messages by wh_{lane}_stream.
create or replace function wh_shift_streams_{lane}(p_by interval, p_now timestamptz)
returns void
language plpgsql
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_held uuid[] := array(
    select s.stream_id from wh_active_streams s
    where s.lane = '{lane}' and s.instance_id is not null and s.lease_expiry > p_now
    order by s.lease_expiry
    for no key update skip locked);
  v_blocked uuid[] := array(
    select s.stream_id from wh_active_streams s
    where s.lane = '{lane}' and s.is_blocked and s.available_at > p_now
    order by s.available_at
    for no key update skip locked);
  v_due uuid[] := array(
    select s.stream_id from wh_active_streams s
    where s.lane = '{lane}' and s.instance_id is null and s.waits_for is null and not s.is_blocked and s.available_at > p_now
    order by s.available_at
    for no key update skip locked);
begin
  update wh_{lane} m
  set lease_expiry = m.lease_expiry - p_by
  from unnest(v_held) as k(stream_id)
  join wh_active_streams s on s.stream_id = k.stream_id and (s.lane = '{lane}') is true
  where m.stream_key = s.stream_id and m.sequence_order between s.head and s.held_through
    and m.processed_at is null and m.instance_id is not null;
  update wh_{lane} m
  set scheduled_for = m.scheduled_for - p_by
  from unnest(v_blocked) as k(stream_id)
  join wh_active_streams s on s.stream_id = k.stream_id and (s.lane = '{lane}') is true
  where m.stream_key = s.stream_id and m.sequence_order = s.head
    and m.processed_at is null and m.status & 32768 <> 0 and m.scheduled_for > p_now;
  update wh_active_streams s
  set lease_expiry = s.lease_expiry - p_by
  where s.stream_id = any(v_held) and s.lane = '{lane}';
  update wh_active_streams s
  set available_at = s.available_at - p_by
  where s.stream_id = any(v_blocked || v_due) and s.lane = '{lane}';
end
$$;
