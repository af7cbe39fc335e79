-- Returns what is known of a message that is in neither lane: a timer, a dead letter, finished, gone, or never here.
-- Locks: none
-- Reads by: primary keys; wh_dead_letters_message; wh_history_message.
-- Raises: none
-- Called by: wh_explain_message, wh_explain_stream
create or replace function wh_explain_absent(p_message_id uuid, p_now timestamptz)
returns setof wh_reason
language plpgsql stable
as $$
declare
  v_facts jsonb := jsonb_build_object('lane', null, 'at', p_now, 'message_id', p_message_id);
  v_subscribers text := 'An event needs a subscriber when it is sent: see docs/operate/in-production.';
begin
  return query
  select 'scheduled', true, format('It is a timer: it takes its place in its stream in %s s.', greatest(ceil(extract(epoch from t.due_at - p_now)), 0)),
    t.created_at, t.due_at, v_facts || jsonb_build_object('lane', 'outbox', 'type', t.event_type, 'stream_id', t.stream_id, 'target', t.destination, 'stored_at', t.created_at),
    'To send it now: ' || wh_command('retry-now', p_message_id::text)
  from wh_timers t
  where t.message_id = p_message_id;
  if found then
    return;
  end if;
  return query
  select 'dead', true, format('It was given up after %s: %s', case d.attempts when 1 then 'one attempt' else d.attempts || ' attempts' end,
      coalesce(split_part(d.error, e'\n', 1), 'no error')),
    d.died_at, null::timestamptz,
    v_facts || jsonb_build_object('lane', d.source, 'type', d.event_type, 'stream_id', d.stream_id, 'target', d.destination, 'stored_at', d.stored_at,
      'attempts', d.attempts, 'error', split_part(d.error, e'\n', 1), 'failures', (
        select jsonb_agg(jsonb_build_object('at', f.value -> 'at', 'attempt', f.value -> 'attempt', 'instance_id', f.value -> 'instance_id',
          'error', split_part(f.value ->> 'error', e'\n', 1))) from jsonb_array_elements(d.failures) f)),
    'Mend the cause, then put it back: ' || wh_command('dead-letters', 'retry', p_message_id::text)
  from wh_dead_letters d
  where d.message_id = p_message_id
  order by d.dead_letter_id desc
  limit 1;
  if found then
    return;
  end if;
  return query
  select case when h.lane = 'inbox' then 'finished' else 'left-us' end, false,
    format('It was %s by instance %s, %s s after it was stored.', case when h.lane = 'inbox' then 'handled' else 'published to ' || h.target end,
      h.instance_id, round(extract(epoch from h.finished_at - h.stored_at)::numeric, 3)),
    h.finished_at, null::timestamptz,
    v_facts || jsonb_build_object('lane', h.lane, 'type', h.event_type, 'stream_id', h.stream_id, 'target', h.target, 'stored_at', h.stored_at,
      'finished_at', h.finished_at, 'instance_id', h.instance_id, 'attempts', h.attempts + 1, 'hops', h.hops, 'traceparent', h.traceparent, 'failures', (
        select jsonb_agg(jsonb_build_object('at', f.value -> 'at', 'attempt', f.value -> 'attempt', 'instance_id', f.value -> 'instance_id',
          'error', split_part(f.value ->> 'error', e'\n', 1))) from jsonb_array_elements(h.failures) f)),
    case when h.lane = 'outbox' then 'Ask the service that receives it: whizbang explain, with its schema.' end
  from wh_history h
  where h.message_id = p_message_id
  order by h.lane, h.finished_at desc
  limit 1;
  if found then
    return;
  end if;
  return query
  select 'finished', false, 'It was received and handled here; finished messages are deleted.', i.first_seen_at, null::timestamptz,
    v_facts || jsonb_build_object('lane', 'inbox'), null::text
  from wh_message_deduplication i
  where i.message_id = p_message_id;
  if found then
    return;
  end if;
  return query
  select 'left-us', false, format('It is in the event store as version %s of its stream, and no longer in the outbox: it has left.', e.version), e.created_at, null::timestamptz,
    v_facts || jsonb_build_object('lane', 'outbox', 'type', e.event_type, 'stream_id', e.stream_id, 'version', e.version),
    'Ask the service that receives it: whizbang explain, with its schema. ' || v_subscribers
  from wh_events e
  where e.event_id = p_message_id;
  if not found then
    return next row('not-here', true, 'Nothing is known of it: it was sent and has left, its transaction has not committed, or it was never sent here.',
      null, null, v_facts, 'Look at the schema and at the transaction that sent it. ' || v_subscribers)::wh_reason;
  end if;
end
$$;
