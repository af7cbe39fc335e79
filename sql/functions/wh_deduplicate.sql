-- Notes the ids of arriving inbox messages for ever and returns the messages whose id is new.
-- Locks: deduplication rows by message_id; waits for a concurrent call that notes the same id.
create or replace function wh_deduplicate(p_messages wh_new_message[])
returns wh_new_message[]
language plpgsql
set enable_nestloop = off
as $$
declare
  v_new uuid[];
begin
  with noted as (
    insert into wh_message_deduplication (message_id)
    select m.message_id from unnest(p_messages) m order by m.message_id
    on conflict do nothing
    returning message_id
  )
  select array_agg(n.message_id) into v_new from noted n;
  if cardinality(v_new) = cardinality(p_messages) then
    return p_messages;
  end if;
  return array(
    select m::wh_new_message from unnest(p_messages) m join unnest(v_new) n(message_id) on n.message_id = m.message_id order by m.ord
  );
end
$$;
