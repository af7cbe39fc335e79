-- Stores messages that are not events as a plain insert would: unadmitted, in array order.
-- An outbox id that is unfinished and an inbox id that is known are left out.
-- It takes a third of the time of wh_store for a call without room. If another call is storing one of the same ids, it
-- falls back to wh_store.
-- Locks: deduplication rows, then message rows, by message_id; it waits for a call that stores the same id.
-- Reads by: primary key.
-- Raises: serialization_failure
-- Called by: wh_settle_one
create or replace function wh_store_aside(p_instance_id uuid, p_messages wh_routed)
returns void
language plpgsql
as $$
begin
  begin
    if p_messages.own <> '{}' then
      perform wh_store_received(p_messages.own);
    end if;
    insert into wh_outbox (message_id, destination, event_type, event_data, metadata, scope, stream_id, is_event, sequence_order, scheduled_for, priority)
    select p.message_id, p.target, p.event_type, p.event_data, p.metadata, p.scope, p.stream_id, p.is_event, p.sequence_order, p.scheduled_for, p.priority
    from (
      select n.*, nextval('wh_outbox_sequence_order_seq') as sequence_order
      from (
        select u.* from unnest(p_messages.leaving) u
        where (select x.processed_at is null from wh_outbox x where x.message_id = u.message_id) is not true
        order by u.ord
      ) n
    ) p
    order by p.message_id;
    return;
  exception
    when unique_violation then null;
  end;
  perform wh_store(wh_roomless_call(p_instance_id), p_messages.leaving, p_messages.own, '{}', '{}', '{}', '{}', 0, 0, false, false);
end
$$;
