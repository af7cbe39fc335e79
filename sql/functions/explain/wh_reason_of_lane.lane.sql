-- Makes the reason of a code for a message `m` of a stream `s`, in which the message `w` decides and p_before
-- unfinished ones come before `m`.
-- Locks: none
-- Reads by: primary key; as wh_sessions_at.
-- Raises: none
-- Called by: wh_explain_{lane}
create or replace function wh_reason_of_{lane}(
  p_code text, m wh_{lane}, s wh_active_streams, w wh_{lane}, p_before bigint, p_instances wh_reason[], p_now timestamptz
)
returns wh_reason
language plpgsql stable
as $$
declare
  v_behind text := case when w.message_id <> m.message_id
    then format('It waits behind %s (%s)%s: ', w.message_id, w.event_type, case when p_before > 1000 then ', far behind' when p_before > 1 then format(', with %s more between', p_before - 1) else '' end)
    else '' end;
  v_facts jsonb := jsonb_strip_nulls(jsonb_build_object('before', p_before, 'behind', case when w.message_id <> m.message_id then w.message_id end,
    'partition', coalesce(s.partition_number, m.partition_number),
    'last_call_at', case when p_code = 'nobody-asks' then (select max(i.facts ->> 'last_call_at') from unnest(p_instances) i) end));
  v_sessions jsonb := case p_code when 'not-appended' then wh_sessions_at('wh_event_streams') when 'row-locked' then wh_sessions_at('wh_active_streams') end;
  v_end text := format('End that transaction. The oldest that may be it: select pg_terminate_backend(%s);', coalesce(v_sessions -> 0 ->> 'pid', 'pid'));
  v_name text := coalesce(s.waits_for, {waits_at}, w.{target});
  v_takeover timestamptz := s.available_at + make_interval(secs => (select min((i.facts ->> 'takeover_seconds')::double precision) from unnest(p_instances) i));
begin
  case p_code
    when 'held', 'behind-held' then
      return wh_reason_of_holder(p_code, s, p_before, m.attempts, v_facts, p_now);
    when 'orphaned' then
      return row(p_code, false, 'The lease of its holder has run out: any instance with room takes its stream.', s.lease_expiry, null,
        v_facts || jsonb_build_object('holder', s.instance_id), 'None: the next call takes it.')::wh_reason;
    when 'scheduled' then
      return row(p_code, true, v_behind || case when w.attempts > 0
          then format('it has failed %s and is tried again in %s s: %s', case w.attempts when 1 then 'once' else w.attempts || ' times' end,
            ceil(extract(epoch from w.scheduled_for - p_now)), coalesce(split_part(w.error, e'\n', 1), 'no error'))
          else format('it was sent for a time in %s s.', ceil(extract(epoch from w.scheduled_for - p_now))) end,
        null, w.scheduled_for, v_facts || jsonb_build_object('attempts', w.attempts, 'error', split_part(w.error, e'\n', 1)),
        'To try it now: ' || wh_command('retry-now', w.message_id::text))::wh_reason;
    when 'not-appended' then
      return row(p_code, true, v_behind || 'its event is not in the event store yet: another transaction has the version row of its stream.',
        m.{stored_at}, null, v_facts || jsonb_build_object('sessions', v_sessions), v_end)::wh_reason;
    when 'no-handler' then
      return row(p_code, true, v_behind || format('it waits for the handler of %s, which no living instance has.', v_name), s.available_at, null,
        v_facts || jsonb_build_object('handler', v_name), 'Deploy an instance that handles it, or look at the name of the handler.')::wh_reason;
    when 'at-limit' then
      return row(p_code, true, v_behind || format('it waits at the limit of %s.', replace(v_name, chr(31), ' for the key ')), s.available_at, null,
        v_facts || jsonb_build_object('limit', v_name), 'Wait, or raise the limit of the receptor: concurrency or rate.')::wh_reason;
    when 'paused' then
      return wh_reason_of_pause(m.stream_key, w.{target}, v_facts);
    when 'row-locked' then
      return row(p_code, true, 'A transaction has locked its stream, and calls skip what is locked.', null, null,
        v_facts || jsonb_build_object('sessions', v_sessions), 'Wait for it. ' || v_end)::wh_reason;
    when 'unadmitted' then
      return row(p_code, true, 'No call has seen it yet' || case when m.partition_number is null and m.sequence_order < (select l.admitted_below from wh_lanes l where l.lane = '{lane}')
          then ', because its transaction committed late: a look from the bottom finds it within a minute.'
          when s.stream_id is null then ': one with room in this lane admits it.' else ': there are many before it.' end, m.{stored_at}, null, v_facts, 'None: a call with room finds it.')::wh_reason;
    else
      return wh_reason_of_room(p_code, s, v_takeover, v_facts, p_now);
  end case;
end
$$;
