-- Writes the caller's lease on these messages, whose streams it has taken.
-- Flags: Orphaned if another lease had run out on the message, RetryAfterFailure if it has failed before,
-- HighPriority if its priority is above 0.
-- Locks: message rows of streams that the call has locked.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_claim_{lane}
create or replace function wh_lease_{lane}(c wh_call, p_message_ids uuid[])
returns void
language plpgsql
as $$
begin
  update wh_{lane} m
  set instance_id = c.instance_id,
      lease_expiry = c.lease_expiry,
      partition_number = coalesce(m.partition_number, wh_partition(m.stream_key, c.partition_count)),
      status = case when m.is_event and m.stream_id is not null then m.status | {EventStored} else m.status end,
      flags = case when m.instance_id is not null then {Orphaned} else 0 end | case when m.status & {Failed} <> 0 then {RetryAfterFailure} else 0 end
        | case when m.priority > 0 then {HighPriority} else 0 end
  where m.message_id = any(p_message_ids);
end
$$;
