-- Locks streams that exist already, so that messages can be admitted to them, and tells which the caller holds.
-- Locks: stream rows, skip locked: one that somebody else works on is left out. Reads by primary key.
create or replace function wh_lock_known_streams(c wh_call, p_lane text, p_stream_ids uuid[])
returns wh_open_stream[]
language plpgsql
as $$
begin
  if p_stream_ids is null then
    return '{}';
  end if;
  return array(
    select (s.lane, s.stream_id, false, coalesce(s.instance_id = c.instance_id and s.lease_expiry > c.now, false),
            s.lease_expiry, s.head, s.held_through)::wh_open_stream
    from wh_active_streams s
    where s.stream_id = any(p_stream_ids) and s.lane = p_lane
    for no key update skip locked
  );
end
$$;
