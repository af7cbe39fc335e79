-- Moves the times of a lane's streams and of their messages back, after the clock has gone back from p_noted to p_now
-- (wh_follow_clock).
-- A lease that ends before p_noted either belongs to the new time or had ended in the old one; it stays.
-- Locks: stream rows by stream_id, waiting up to the caller's lock_timeout for transactions that work on one; then
--   skip locked. Then message rows of those streams.
-- Reads by: all streams of the lane that are held, blocked or due; their messages by wh_{lane}_stream.
-- Raises: lock_not_available if a message row stays locked (wh_follow_clock catches it).
-- Called by: wh_follow_clock
create or replace function wh_shift_streams_{lane}(p_noted timestamptz, p_now timestamptz)
returns void
language plpgsql
-- Rows are looked up one by one, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_by interval := p_noted - p_now;
  v_held uuid[];
  v_free uuid[];
begin
  begin
    perform 1 from wh_active_streams s
    where s.lane = '{lane}' and (s.instance_id is not null or s.is_blocked)
    order by s.stream_id
    for no key update;
  exception
    when lock_not_available then null;
  end;
  v_held := array(
    select s.stream_id from wh_active_streams s
    where s.lane = '{lane}' and s.instance_id is not null and s.lease_expiry > p_noted
    for no key update skip locked);
  v_free := array(
    select s.stream_id from wh_active_streams s
    where s.lane = '{lane}' and s.instance_id is null and s.waits_for is null
    for no key update skip locked);
  update wh_{lane} m
  set lease_expiry = m.lease_expiry - v_by
  from unnest(v_held) as k(stream_id)
  -- "is true" keeps the planner from reading a whole lane by another index than the primary key.
  join wh_active_streams s on s.stream_id = k.stream_id and (s.lane = '{lane}') is true
  where m.stream_key = s.stream_id and m.sequence_order between s.head and s.held_through
    and m.processed_at is null and m.instance_id is not null;
  -- A retry whose time had come must not wait again: it is due now.
  update wh_{lane} m
  set scheduled_for = case when s.instance_id is null and not s.is_blocked then least(m.scheduled_for - v_by, p_now) else m.scheduled_for - v_by end
  from unnest(v_held || v_free) as k(stream_id)
  join wh_active_streams s on s.stream_id = k.stream_id and (s.lane = '{lane}') is true
  where m.stream_key = s.stream_id and m.sequence_order >= s.head
    and m.processed_at is null and m.status & {Failed} <> 0 and m.scheduled_for > p_now;
  update wh_active_streams s
  set lease_expiry = s.lease_expiry - v_by
  where s.stream_id = any(v_held) and s.lane = '{lane}';
  update wh_active_streams s
  set available_at = s.available_at - v_by
  where s.stream_id = any(v_free) and s.lane = '{lane}' and s.available_at > p_now;
end
$$;
