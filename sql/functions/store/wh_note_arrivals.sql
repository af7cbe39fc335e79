-- Writes down which of these deliveries arrived out of order. They are new: what was stored before and is delivered
-- again is no longer among them. A hundred rows at most.
-- Locks: new rows of wh_order_violations, and as wh_trim_order_violations.
-- Reads by: no table
-- Raises: none
-- Called by: wh_try_store
create or replace function wh_note_arrivals(c wh_call, p_messages wh_new_message[])
returns void
language plpgsql
as $$
begin
  insert into wh_order_violations (kind, lane, stream_id, message_id, other_id, instance_id)
  select 'arrived-late', 'inbox', m.stream_key, m.message_id, m.arrived_after, c.instance_id
  from unnest(p_messages) m
  where m.arrived_after is not null
  order by m.ord
  limit 100;
  perform wh_trim_order_violations();
end
$$;
