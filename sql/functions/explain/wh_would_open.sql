-- Returns the streams of a lane that admission would open, and those that it would make due or point to an earlier
-- message (wh_open_streams_{lane}, wh_lower_heads), as their rows would be then.
-- Locks: none
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_would_admit
create or replace function wh_would_open(c wh_call, p_lane text, p_floor bigint, p_arrivals wh_arrival[], p_admitted wh_arrival[])
returns wh_active_streams[]
language plpgsql stable
as $$
begin
  if p_arrivals = '{}' then
    return '{}';
  end if;
  return array(
    select case when s.stream_id is null
        then (a.stream_key, p_lane, a.partition_number, null, null, c.now, least(a.head, p_floor), 0, null, false, a.first_priority)::wh_active_streams
        else (s.stream_id, s.lane, s.partition_number, s.instance_id, s.lease_expiry,
          case when s.is_blocked or s.waits_for is not null then c.now else s.available_at end,
          least(s.head, a.admitted), s.held_through, null, false, case when s.head > a.admitted then a.priority else s.priority end)::wh_active_streams end
    from (
      select u.stream_key, min(u.partition_number) as partition_number, min(u.sequence_order) as head,
        min(d.sequence_order) as admitted,
        (array_agg(u.priority order by u.sequence_order))[1] as first_priority, (array_agg(d.priority order by d.sequence_order))[1] as priority,
        min(d.sequence_order) filter (where d.appends) as appended
      from unnest(p_arrivals) u
      left join unnest(p_admitted) d on d.message_id = u.message_id
      group by u.stream_key
    ) a
    left join wh_active_streams s on s.stream_id = a.stream_key and s.lane = p_lane
    where s.stream_id is null or s.head > a.admitted or s.is_blocked and s.head = a.appended
    order by a.stream_key);
end
$$;
