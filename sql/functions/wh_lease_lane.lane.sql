-- Writes the caller's lease on these messages, whose streams it has taken, and returns them in order.
-- Flags: Orphaned when another lease had run out on the message, RetryAfterFailure when it has failed before.
-- Reads by primary key.
create or replace function wh_lease_{lane}(c wh_call, p_message_ids uuid[])
returns wh_work_item[]
language plpgsql
as $$
declare
  v_items wh_work_item[];
begin
  with leased as (
    update wh_{lane} m
    set instance_id = c.instance_id,
        lease_expiry = c.lease_expiry,
        partition_number = coalesce(m.partition_number, wh_partition(m.stream_key, c.partition_count)),
        status = case when m.is_event and m.stream_id is not null then m.status | 2 else m.status end,
        flags = case when m.instance_id is not null then 2 else 0 end | case when m.status & 32768 <> 0 then 32 else 0 end
    where m.message_id = any(p_message_ids)
    returning m.*
  )
  select array_agg(('{lane}', l.message_id, l.stream_id, l.partition_number, l.{target}, l.event_type, l.event_data, l.metadata,
                    l.scope, l.status, l.flags, l.attempts, l.sequence_order, l.lease_expiry)::wh_work_item order by l.sequence_order)
  into v_items
  from leased l;
  return v_items;
end
$$;
