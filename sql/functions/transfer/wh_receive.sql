-- Receives what other schemas send (wh_transfer). It stores the messages whose address this schema subscribes to in the
-- inbox, in array order, unadmitted like a plain insert. Each id is accepted once, for ever. Returns how many were new.
-- [{message_id, destination, event_type, event_data, metadata, scope, stream_id, is_event, priority}]. Schemas know
-- nothing else of each other than this signature, and they may be of different versions: unknown keys are ignored. An
-- event of a stream is one of this schema too: its coordinator appends it to the event store.
-- Locks: deduplication rows by message_id, then message rows; it waits only for a call that receives the same ids,
--   and looks again when that one commits.
-- Reads by: primary key.
-- Raises: serialization_failure
-- Called by: delivery-functions.ts, wh_transfer, wh_transfer_each
create or replace function wh_receive(p_messages jsonb)
returns int
language plpgsql security definer
set search_path from current
-- One plan, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set jit = off set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_addresses text[] := array(
    select s.address from wh_subscriptions s
    where s.address = any(array(select x.destination from jsonb_to_recordset(p_messages) as x(destination text))));
  v_messages wh_new_message[];
begin
  if v_addresses = '{}' then
    return 0;
  end if;
  v_messages := array(
    select (m.ord, m.message_id, m.event_type, m.event_type, coalesce(m.event_data, 'null'), coalesce(m.metadata, '{}'), m.scope,
            m.stream_id, m.stream_id is not null and (m.is_event is true or (m.metadata ->> 'kind' = 'event') is true), null, null, coalesce(m.stream_id, m.message_id), null, null,
            coalesce(nullif(m.priority, 0), wh_priority_of(m.metadata)), null)::wh_new_message
    from rows from (
      jsonb_to_recordset(p_messages) as (
        message_id uuid, destination text, event_type text, event_data jsonb, metadata jsonb, scope jsonb, stream_id uuid, is_event boolean, priority int)
    ) with ordinality as m(message_id, destination, event_type, event_data, metadata, scope, stream_id, is_event, priority, ord)
    where m.destination = any(v_addresses)
    order by m.ord
  );
  for v_try in 1..20 loop
    begin
      return wh_store_received(v_messages);
    exception
      when unique_violation then null;
    end;
  end loop;
  raise exception using
    errcode = 'serialization_failure',
    message = 'wh_receive: other transactions kept storing the same messages',
    hint = 'Nothing was changed. Send the messages again.';
end
$$;
