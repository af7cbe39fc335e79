-- Finishes those of these messages that the caller holds and that this completion makes done. They leave the table, or
-- stay with processed_at under DebugMode. Returns them.
-- With c.history, that percentage of the streams leaves a row for each message in wh_history.
-- Locks: message rows of streams that the call has locked; new rows of wh_history.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_report_{lane}
create or replace function wh_finish_{lane}(c wh_call, p_message_ids uuid[], p_status int)
returns wh_finished
language plpgsql
as $$
declare
  r wh_finished;
begin
  if p_status = 0 then
    return r;
  end if;
  if c.keeps_completed then
    with done as (
      update wh_{lane} m
      set status = m.status | p_status, processed_at = c.now, instance_id = null, lease_expiry = null
      where m.message_id = any(p_message_ids) and m.instance_id = c.instance_id
        and wh_is_done_{lane}(m.status, p_status)
      returning m.message_id, m.stream_key, m.sequence_order
    )
    select array_agg(d.message_id), array_agg(d.stream_key), array_agg(d.sequence_order) into r from done d;
  elsif c.history > 0 then
    with done as (
      delete from wh_{lane} m
      where m.message_id = any(p_message_ids) and m.instance_id = c.instance_id
        and wh_is_done_{lane}(m.status, p_status)
      returning m.*
    ), remembered as (
      insert into wh_history (finished_at, lane, message_id, event_type, target, stream_id, sequence_order, status, attempts, failures, stored_at, instance_id, hops, traceparent)
      select c.now, '{lane}', d.message_id, d.event_type, d.{target}, d.stream_id, d.sequence_order, d.status | p_status, d.attempts, d.failures, d.{stored_at}, d.instance_id,
        d.metadata -> 'hops', d.metadata ->> 'traceparent'
      from done d
      where wh_partition(d.stream_key, 100) < c.history
    )
    select array_agg(d.message_id), array_agg(d.stream_key), array_agg(d.sequence_order) into r from done d;
  else
    with done as (
      delete from wh_{lane} m
      where m.message_id = any(p_message_ids) and m.instance_id = c.instance_id
        and wh_is_done_{lane}(m.status, p_status)
      returning m.message_id, m.stream_key, m.sequence_order
    )
    select array_agg(d.message_id), array_agg(d.stream_key), array_agg(d.sequence_order) into r from done d;
  end if;
  return r;
end
$$;
