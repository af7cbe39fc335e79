-- Makes the reason of a message that nothing but the instances keeps from running, or nothing at all.
-- p_takeover: from when on any instance may take its stream.
-- Locks: none
-- Reads by: wh_active_streams_free.
-- Raises: none
-- Called by: wh_reason_of_{lane}
create or replace function wh_reason_of_room(p_code text, s wh_active_streams, p_takeover timestamptz, p_facts jsonb, p_now timestamptz)
returns wh_reason
language plpgsql stable
as $$
declare
  v_before bigint := case when p_code = 'no-room' then (
    select count(*) from (
      select from wh_active_streams x
      where x.lane = s.lane and x.instance_id is null and x.waits_for is null and not x.is_blocked and x.available_at < s.available_at
      order by x.available_at limit 1001) b) end;
  v_waits text := case when s.available_at is null then ''
    else format(' It has been due for %s s.', greatest(round(extract(epoch from p_now - s.available_at), 1), 0)) end;
begin
  return row(p_code, p_code <> all(array['cooling', 'claimable-now']),
    case p_code
      when 'below-floor' then 'Its stream lies below where searches begin: a look from the bottom finds it within a minute. If it takes longer, the clock has gone back.'
      when 'nobody-asks' then 'No living instance asks for work of this lane.'
        || coalesce(format(' The last that asked for any did %s s ago.', round(extract(epoch from p_now - (p_facts ->> 'last_call_at')::timestamptz))), '')
      when 'capped' then 'An instance could take it, but holds as many partitions as it may.' || v_waits
      when 'no-room' then 'Instances have no room for it, or others come before it.' || v_waits
        || case when v_before > 1000 then ' More than 1000 streams have waited longer.' when v_before > 0 then format(' %s %s waited longer.', v_before, case v_before when 1 then 'stream has' else 'streams have' end) else '' end
      when 'not-mine-yet' then format('Its partition %s is another instance''s for now; anybody''s from %s on.', s.partition_number, coalesce(to_char(p_takeover, 'HH24:MI:SS'), 'later'))
      when 'cooling' then 'It was given back after a failure, or with a part of its work done, by a call that gives out nothing of its stream: the next one may take it.' || v_waits
      else 'An instance takes it with its next call.' || v_waits
    end,
    s.available_at, case when p_code = 'not-mine-yet' then p_takeover end,
    p_facts || jsonb_strip_nulls(jsonb_build_object('due_before', v_before)),
    case p_code
      when 'below-floor' then 'whizbang doctor, if it lasts longer than a minute.'
      when 'nobody-asks' then 'Start an instance, or look at those that run: whizbang instances.'
      when 'capped' then 'Raise maxPartitionsPerInstance, or start an instance.'
      when 'no-room' then 'More concurrency, or another instance: whizbang instances shows their room.'
      when 'not-mine-yet' then 'Wait for its owner, or until then.'
    end)::wh_reason;
end
$$;
