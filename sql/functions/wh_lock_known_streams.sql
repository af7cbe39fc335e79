-- Locks streams that exist already and that the caller has not reported on, so that messages can be admitted to them.
-- Locks: stream rows, skip locked. A key share is enough to store: it keeps the row from being removed, and neither
-- the holder's reports nor a claim wait for it. Arrivals are marked as admitted, by one call at a time: they take the
-- lock that excludes others. Reads by primary key.
create or replace function wh_lock_known_streams(p_lane text, p_stream_ids uuid[], p_admits boolean)
returns wh_open_stream[]
language plpgsql
as $$
begin
  if p_stream_ids is null then
    return '{}';
  end if;
  if p_admits then
    return array(
      select (s.lane, s.stream_id, false, false, s.lease_expiry, s.head, s.held_through)::wh_open_stream
      from wh_active_streams s
      where s.stream_id = any(p_stream_ids) and s.lane = p_lane
      for no key update skip locked
    );
  end if;
  return array(
    select (s.lane, s.stream_id, false, false, s.lease_expiry, s.head, s.held_through)::wh_open_stream
    from wh_active_streams s
    where s.stream_id = any(p_stream_ids) and s.lane = p_lane
    for key share skip locked
  );
end
$$;
