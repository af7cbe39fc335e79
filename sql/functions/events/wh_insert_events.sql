-- Inserts new events with their versions, and raises the versions of their streams. This is the only way into the event
-- store. Returns the numbers of the events. Where there are perspectives, a sleeping worker is notified at the commit.
-- Locks: new event rows, in their order; it waits for a call that appends the same event id under another stream. The
--   caller has locked the version rows.
-- Reads by: primary key; the first row of wh_perspectives.
-- Raises: serialization_failure if another transaction has just appended the same event id to another stream.
-- Called by: wh_append, wh_append_events
create or replace function wh_insert_events(p_new wh_new_events, p_versions bigint[])
returns bigint[]
language plpgsql
-- Version rows are looked up one by one, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_hashjoin = off set enable_mergejoin = off set enable_nestloop = on
as $$
declare
  v_numbers bigint[];
begin
  with inserted as (
    insert into wh_event_store (event_id, stream_id, version, event_type, aggregate_type, event_data, metadata, scope)
    select n.event_id, n.stream_id, n.version, n.event_type, coalesce(n.metadata ->> 'aggregateType', wh_aggregate_type(n.event_type)), n.event_data, n.metadata, n.scope
    from unnest(p_new.event_ids, p_new.stream_ids, p_versions, p_new.event_types, p_new.event_data, p_new.metadata, p_new.scopes)
      with ordinality as n(event_id, stream_id, version, event_type, event_data, metadata, scope, ord)
    order by n.ord
    on conflict (event_id) do nothing
    returning sequence_number
  ), raised as (
    update wh_event_streams e
    set version = u.version
    from (
      select n.stream_id, max(n.version) as version from unnest(p_new.stream_ids, p_versions) as n(stream_id, version) group by n.stream_id
    ) u
    where e.stream_id = u.stream_id
  )
  -- Numbers are taken in the order of the rows.
  select array_agg(i.sequence_number order by i.sequence_number) into v_numbers from inserted i;
  -- Null, when not one of them was inserted.
  if cardinality(v_numbers) = cardinality(p_versions) then
    if exists (select from wh_perspectives) then
      perform wh_notify_watch();
    end if;
    return v_numbers;
  end if;
  raise exception using
    errcode = 'serialization_failure',
    message = 'another transaction has appended an event with the same id to another stream',
    hint = 'Run the transaction again: the event is known then.';
end
$$;
