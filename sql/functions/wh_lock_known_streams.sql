-- Locks streams that exist already, so that messages can be admitted to them, and tells which of them the caller holds
-- and has locked by reporting on them: only there may it lease new messages.
-- Locks: stream rows, skip locked. A key share is enough to store: it keeps the row from being removed, and neither
-- the holder's reports nor a claim wait for it. Arrivals are marked as admitted, by one call at a time: they take the
-- lock that excludes others. Reads by primary key.
create or replace function wh_lock_known_streams(c wh_call, p_lane text, p_stream_ids uuid[], p_held uuid[], p_admits boolean)
returns wh_open_stream[]
language plpgsql
as $$
begin
  if p_stream_ids is null then
    return '{}';
  end if;
  if p_admits then
    return array(
      select (s.lane, s.stream_id, false, coalesce(s.instance_id = c.instance_id and s.lease_expiry > c.now, false),
              s.lease_expiry, s.head, s.held_through)::wh_open_stream
      from wh_active_streams s
      where s.stream_id = any(p_stream_ids) and s.lane = p_lane
      for no key update skip locked
    );
  end if;
  return array(
    select (s.lane, s.stream_id, false,
            coalesce(s.instance_id = c.instance_id and s.lease_expiry > c.now and s.stream_id = any(p_held), false),
            s.lease_expiry, s.head, s.held_through)::wh_open_stream
    from wh_active_streams s
    where s.stream_id = any(p_stream_ids) and s.lane = p_lane
    for key share skip locked
  );
end
$$;
