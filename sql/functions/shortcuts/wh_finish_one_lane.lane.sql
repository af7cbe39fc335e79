-- Finishes one message that the caller holds, with a completion that makes it done. Returns it, with its stream,
-- which is locked and has to be settled.
-- Returns null, and changes nothing, if the caller does not hold the message.
-- It runs two statements for one row each. That takes a third of the time of wh_lock_reported_{lane} and
-- wh_report_{lane}, which work on many rows.
-- p_history: as in wh_finish_{lane}.
-- Locks: the stream row, then the message row, waiting; a new row of wh_history.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_settle_one
create or replace function wh_finish_one_{lane}(p_instance_id uuid, p_message_id uuid, p_status int, p_history int)
returns wh_finished
language plpgsql
as $$
declare
  v_stream_id uuid;
  v_order bigint;
begin
  select s.stream_id into v_stream_id
  from wh_active_streams s
  where s.stream_id = (select m.stream_key from wh_{lane} m where m.message_id = p_message_id and m.instance_id = p_instance_id)
    and s.lane = '{lane}' and s.instance_id = p_instance_id
  for no key update;
  if v_stream_id is not null then
    if p_history > 0 then
      with done as (
        delete from wh_{lane} m where m.message_id = p_message_id and m.instance_id = p_instance_id
        returning m.*
      ), remembered as (
        insert into wh_history (finished_at, lane, message_id, event_type, target, stream_id, sequence_order, status, attempts, failures, stored_at, instance_id, hops, traceparent)
        select clock_timestamp(), '{lane}', d.message_id, d.event_type, d.{target}, d.stream_id, d.sequence_order, d.status | p_status, d.attempts, d.failures, d.{stored_at}, d.instance_id,
          d.metadata -> 'hops', d.metadata ->> 'traceparent'
        from done d
        where wh_partition(d.stream_key, 100) < p_history
      )
      select d.sequence_order into v_order from done d;
    else
      delete from wh_{lane} m where m.message_id = p_message_id and m.instance_id = p_instance_id
      returning m.sequence_order into v_order;
    end if;
    if found then
      return row(array[p_message_id], array[v_stream_id], array[v_order])::wh_finished;
    end if;
  end if;
  return null;
end
$$;
