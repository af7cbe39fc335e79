-- The rows that tell the caller which messages it reported on without holding them.
create or replace function wh_lost_items(p_lane text, p_message_ids uuid[])
returns wh_work_item[]
language plpgsql immutable
as $$
begin
  return array(
    select (p_lane, u.message_id, null, null, null, null, null, null, null, null, 64, null, null, null)::wh_work_item
    from unnest(p_message_ids) as u(message_id));
end
$$;
