-- Deletes a message of the lane that no instance has begun. Returns whether it did.
-- Claims change messages only under the lock of their stream, so this takes it too. For a message of a stream without
-- a row, which is not admitted yet, it makes the row, and so keeps others from opening the stream meanwhile.
-- If the message was the first of its stream, the stream becomes due for the next one, or its row is deleted.
-- Locks: the stream row, or a new one; it waits for a call that has it or makes it. Then the message row.
-- Reads by: primary key; messages by wh_{lane}_stream; all instances.
-- Raises: none
-- Called by: wh_cancel_message
create or replace function wh_cancel_{lane}(p_message_id uuid)
returns boolean
language plpgsql
as $$
declare
  c wh_call;
  v_stream_id uuid;
  v_order bigint;
begin
  select m.stream_key, m.sequence_order into v_stream_id, v_order
  from wh_{lane} m
  where m.message_id = p_message_id and {not_begun};
  if not found then
    return false;
  end if;
  -- Before it reads the clock; see wh_stamp_call.
  perform pg_current_xact_id();
  perform wh_seize_stream('{lane}', v_stream_id, v_order);
  delete from wh_{lane} m where m.message_id = p_message_id and {not_begun};
  if not found then
    return false;
  end if;
  perform from wh_{lane} m where m.stream_key = v_stream_id and m.sequence_order < v_order and m.processed_at is null limit 1;
  if not found then
    -- The next one may have another handler than the one that the stream has waited for.
    update wh_active_streams s set waits_for = null
    where s.stream_id = v_stream_id and s.lane = '{lane}' and s.waits_for is not null;
    c := wh_roomless_call(null);
    perform wh_settle_{lane}(c, array[v_stream_id], false);
  end if;
  return true;
end
$$;
