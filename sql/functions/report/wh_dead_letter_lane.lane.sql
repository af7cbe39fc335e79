-- Moves messages that are given up to wh_dead_letters, complete and with their history. Those are the failures reported
-- with dead_letter, and by default (neither dead_letter nor a delay given) the messages that failed for the tenth time.
-- Returns their ids. A failure that is not counted adds nothing to the count and the history.
-- Locks: message rows of streams that the call has locked; new rows of wh_dead_letters.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_report_{lane}
create or replace function wh_dead_letter_{lane}(c wh_call, p_failures wh_failure[])
returns uuid[]
language plpgsql
-- Rows are looked up one by one, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_buried uuid[];
begin
  with dead as (
    delete from wh_{lane} m
    using unnest(p_failures) f
    where m.message_id = f.message_id and m.instance_id = c.instance_id
      and m.attempts + 1 = coalesce(f.attempt, m.attempts + 1)
      and coalesce(f.dead_letter, f.retry_after_seconds is null and m.attempts + 1 >= 10)
    returning m.*, f.error as last_error, f.completed_status, f.counted
  ), buried as (
    insert into wh_dead_letters (source, message_id, destination, event_type, event_data, metadata, scope, stream_id,
      partition_number, is_event, status, flags, sequence_order, attempts, error, stored_at, died_at, instance_id, failures, priority)
    select '{lane}', d.message_id, d.{target}, d.event_type, d.event_data, d.metadata, d.scope, d.stream_id,
      d.partition_number, d.is_event, d.status | d.completed_status | {Failed}, d.flags, d.sequence_order, d.attempts + (d.counted is not false)::int,
      case when d.counted is false then coalesce(d.last_error, d.error) else d.last_error end, d.{stored_at}, c.now, d.instance_id,
      case when d.counted is false then d.failures else wh_add_failure(d.failures, c, d.attempts + 1, d.last_error) end, d.priority
    from dead d
    order by d.sequence_order
    returning message_id
  )
  select array_agg(b.message_id) into v_buried from buried b;
  return coalesce(v_buried, '{}');
end
$$;
