-- Finishes one message that the caller holds, with a completion that makes it done. Returns its stream, locked, to be
-- settled.
-- Returns null, and changes nothing, if the caller does not hold the message.
-- It runs two statements for one row each. That takes a third of the time of wh_lock_reported_{lane} and
-- wh_report_{lane}, which work on many rows.
-- Locks: the stream row, then the message row; it waits.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_settle_one
create or replace function wh_finish_one_{lane}(p_instance_id uuid, p_message_id uuid)
returns uuid
language plpgsql
as $$
declare
  v_stream_id uuid;
begin
  select s.stream_id into v_stream_id
  from wh_active_streams s
  where s.stream_id = (select m.stream_key from wh_{lane} m where m.message_id = p_message_id and m.instance_id = p_instance_id)
    and s.lane = '{lane}' and s.instance_id = p_instance_id
  for no key update;
  if v_stream_id is not null then
    delete from wh_{lane} m where m.message_id = p_message_id and m.instance_id = p_instance_id;
    if not found then
      return null;
    end if;
  end if;
  return v_stream_id;
end
$$;
