-- The short path of a call that only asks for work, where a few messages have arrived (wh_few_arrivals_{lane}): opens
-- their streams as held by the caller, leases them, and appends the events among them to the event store. What it does
-- is what wh_store and wh_claim_all_{lane} would do, in less than half the time.
-- Returns null, having done nothing, if meanwhile another call has one of the streams or messages, something else has
-- arrived in one of the streams, or an open transaction has the version of one.
-- Locks: new stream rows, version rows as wh_lock_versions, message rows, new event rows, in this order, as
--   wh_try_store does; it waits for a call that opens the same stream.
-- Reads by: primary key; messages by wh_{lane}_stream, from the lane's floor.
-- Raises: serialization_failure as wh_insert_events.
-- Called by: process_work_batch
create or replace function wh_take_few_{lane}(c wh_call, p_arrivals wh_arrival[])
returns wh_stored
language plpgsql
as $$
declare
  r wh_stored;
  v_message_ids uuid[] := array(select a.message_id from unnest(p_arrivals) a);
  v_appending uuid[] := array(select distinct a.stream_key from unnest(p_arrivals) a where a.appends);
  v_versions wh_stream_version[];
begin
  insert into wh_active_streams (stream_id, lane, partition_number, instance_id, lease_expiry, available_at, head, held_through)
  select a.stream_key, '{lane}', min(a.partition_number), c.instance_id, c.lease_expiry, c.now, min(a.sequence_order), {Everything}
  from unnest(p_arrivals) a
  group by a.stream_key
  order by a.stream_key;
  if v_appending <> '{}' then
    v_versions := wh_lock_versions(v_appending, '{}');
    if cardinality(v_versions) < cardinality(v_appending) then
      raise unique_violation;
    end if;
  end if;
  -- Looked at after the insert, which may have waited: now nobody else admits anything to these streams.
  if exists (
    select 1 from unnest(p_arrivals) a
    -- A lateral join with a limit stays one probe per row; see docs/internals/mechanism.md#plans-that-hold
    cross join lateral (
      select 1 from wh_{lane} m
      where m.stream_key = a.stream_key and m.sequence_order >= c.{lane}_floor and m.processed_at is null and m.message_id <> all(v_message_ids)
      limit 1
    ) m)
  then
    raise unique_violation;
  end if;
  with leased as (
    update wh_{lane} m
    set instance_id = c.instance_id, lease_expiry = c.lease_expiry, partition_number = wh_partition(m.stream_key, c.partition_count), flags = 0,
        status = case when {is_unappended} then m.status | {EventStored} else m.status end
    -- "is true" keeps the planner from reading all that is unadmitted.
    where m.message_id = any(v_message_ids) and (m.partition_number is null and {not_begun}) is true
    returning m.message_id
  )
  select array_agg(l.message_id) into r.{lane}_leased from leased l;
  if cardinality(r.{lane}_leased) < cardinality(v_message_ids) is not false then
    raise unique_violation;
  end if;
  if v_appending <> '{}' then
    r.appended := wh_append_events(v_versions, '{}', '{}', '{}', p_arrivals);
  end if;
  return r;
exception
  when unique_violation then return null;
end
$$;
