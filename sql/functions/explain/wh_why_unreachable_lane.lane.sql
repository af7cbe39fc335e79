-- Returns why the claim of a call would not look at the stream of a message, however much room it had: a code of
-- explain. Null: it would. s: the row of the stream as the call would find it; without an id: there is none.
-- Locks: none
-- Reads by: as wh_would_lock, of this row only; messages by primary key.
-- Raises: none
-- Called by: wh_explain_instances_{lane}
create or replace function wh_why_unreachable_{lane}(c wh_call, p_room int, s wh_active_streams, m wh_{lane}, p_appended uuid[], p_taken int[])
returns text
language plpgsql stable
as $$
declare
  v_first uuid;
  u wh_call := c;
begin
  if s.stream_id is null then
    return 'unadmitted';
  elsif s.stream_id = any((wh_would_lock(c, '{lane}', p_room, c.{lane}_free_from, c.{lane}_leased_from, array[s], '{}', p_taken, true)).stream_ids) then
    return null;
  elsif s.instance_id is not null and s.lease_expiry > c.now then
    return case when m.instance_id = s.instance_id then 'held' else 'behind-held' end;
  end if;
  u.max_partitions := null;
  if s.stream_id = any((wh_would_lock(u, '{lane}', p_room, c.{lane}_free_from, c.{lane}_leased_from, array[s], '{}', p_taken, true)).stream_ids) then
    return 'capped';
  elsif s.instance_id is not null then
    return 'below-floor';
  end if;
  v_first := (
    select f.message_id from wh_{lane} f
    where f.stream_key = m.stream_key and f.processed_at is null
    order by f.sequence_order
    limit 1);
  return case
    when s.waits_for is not null then
      case when position(chr(31) in s.waits_for) > 0 then 'at-limit' else wh_why_waiting_{lane}(v_first, 'infinity', array[v_first]) end
    when s.is_blocked and s.available_at > c.now then
      case wh_why_waiting_{lane}(v_first, c.now, p_appended) when 'not-appended' then 'not-appended' when 'paused' then 'paused' else 'scheduled' end
    when s.available_at < c.{lane}_free_from then 'below-floor'
    else 'not-mine-yet'
  end;
end
$$;
