-- Locks streams that exist already and have arrivals, so that these can be admitted.
-- A weaker lock is not enough: a message that is admitted while others move the stream's head, schedule or row can be
-- stranded.
-- Locks: stream rows, skip locked: what arrived in a stream that another call works on stays unadmitted.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_open_streams_{lane}
create or replace function wh_lock_known_streams(p_lane text, p_stream_ids uuid[])
returns wh_open_stream[]
language plpgsql
as $$
begin
  if p_stream_ids is null then
    return '{}';
  end if;
  return array(
    select (s.lane, s.stream_id, false, false, s.lease_expiry, s.head, s.held_through)::wh_open_stream
    from wh_active_streams s
    where s.stream_id = any(p_stream_ids) and s.lane = p_lane
    for no key update skip locked
  );
end
$$;
