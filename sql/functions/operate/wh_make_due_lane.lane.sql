-- Makes a message of this lane due now, if it waits for a time. Returns how it was: {lane, due_at, attempts}. Null: it
-- does not wait.
-- Locks: the stream row, then the message row; it waits for calls that hold them, while it holds nothing else.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_retry_now
create or replace function wh_make_due_{lane}(p_message_id uuid)
returns jsonb
language plpgsql
as $$
declare
  v_stream_id uuid := (select m.stream_key from wh_{lane} m where m.message_id = p_message_id);
  v_before jsonb;
begin
  perform from wh_active_streams s where s.stream_id = v_stream_id and s.lane = '{lane}' for no key update;
  select jsonb_build_object('lane', '{lane}', 'due_at', m.scheduled_for, 'attempts', m.attempts) into v_before
  from wh_{lane} m
  where m.message_id = p_message_id and m.processed_at is null and m.scheduled_for > clock_timestamp() and m.status <> {Bar}
  for no key update;
  if v_before is null then
    return null;
  end if;
  update wh_{lane} m set scheduled_for = clock_timestamp() where m.message_id = p_message_id;
  -- Not if the stream waits without an end: it is paused.
  update wh_active_streams s
  set available_at = clock_timestamp()
  where s.stream_id = v_stream_id and s.lane = '{lane}' and s.instance_id is null
    and s.available_at > clock_timestamp() and s.available_at < 'infinity';
  return v_before;
end
$$;
