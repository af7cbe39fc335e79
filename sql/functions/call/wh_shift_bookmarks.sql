-- Moves the leases of bookmarks, and the retries of what is held in perspectives, back with a clock that has gone back.
-- Locks: bookmarks and checkpoint rows, skip locked: a locked bookmark is being moved, and gets a new lease.
-- Reads by: all bookmarks; wh_perspective_checkpoints_held.
-- Raises: none
-- Called by: wh_follow_clock
create or replace function wh_shift_bookmarks(p_noted timestamptz, p_now timestamptz)
returns void
language plpgsql
as $$
begin
  update wh_perspective_bookmarks b
  set lease_expiry = b.lease_expiry - (p_noted - p_now)
  from (select x.ctid as place from wh_perspective_bookmarks x where x.lease_expiry > p_now for no key update skip locked) x
  where b.ctid = x.place;
  update wh_perspective_checkpoints k
  set retry_at = k.retry_at - (p_noted - p_now)
  from (
    select x.stream_id, x.perspective_name from wh_perspective_checkpoints x
    where x.held and x.retry_at > p_now
    for no key update skip locked
  ) x
  where k.stream_id = x.stream_id and k.perspective_name = x.perspective_name;
end
$$;
