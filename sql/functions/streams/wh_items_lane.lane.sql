-- Returns the rows of the result for messages that the call has leased, in order. With p_ranked: the streams by the
-- priority of their first message.
-- Locks: none
-- Reads by: primary key.
-- Raises: none
-- Called by: process_work_batch
create or replace function wh_items_{lane}(p_message_ids uuid[], p_ranked boolean)
returns setof wh_work_item
language plpgsql stable
as $$
begin
  if p_ranked then
    return query
    select '{lane}', m.message_id, m.stream_id, m.partition_number, m.{target}, m.event_type, m.event_data, m.metadata, m.scope,
      m.status, m.flags, m.attempts, m.sequence_order, m.lease_expiry
    from wh_{lane} m
    where m.message_id = any(p_message_ids)
    order by coalesce(first_value(m.priority) over (partition by m.stream_key order by m.sequence_order), 0) desc, m.sequence_order;
    return;
  end if;
  return query
  select '{lane}', m.message_id, m.stream_id, m.partition_number, m.{target}, m.event_type, m.event_data, m.metadata, m.scope,
    m.status, m.flags, m.attempts, m.sequence_order, m.lease_expiry
  from wh_{lane} m
  where m.message_id = any(p_message_ids)
  order by m.sequence_order;
end
$$;
