-- Notes the ids of arriving inbox messages for ever and returns the messages whose id is new.
-- Locks: new deduplication rows by message_id; it waits for a call that notes the same id.
-- Reads by: primary key.
-- Raises: unique_violation if that call commits (wh_store tries again).
-- Called by: wh_store_received, wh_try_store
create or replace function wh_deduplicate(p_messages wh_new_message[])
returns wh_new_message[]
language plpgsql
-- Nested loops over the arrays of a batch would be quadratic; see docs/internals/mechanism.md#plans-that-hold
set enable_nestloop = off
as $$
declare
  v_seen uuid[] := array(
    select d.message_id from wh_message_deduplication d
    where d.message_id = any(array(select m.message_id from unnest(p_messages) m)));
  v_new wh_new_message[] := p_messages;
begin
  if cardinality(v_seen) > 0 then
    v_new := array(
      select m::wh_new_message from unnest(p_messages) m
      left join unnest(v_seen) s(message_id) on s.message_id = m.message_id
      where s.message_id is null
      order by m.ord);
  end if;
  insert into wh_message_deduplication (message_id)
  select m.message_id from unnest(v_new) m order by m.message_id;
  return v_new;
end
$$;
