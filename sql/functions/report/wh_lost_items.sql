-- Returns the rows that tell the caller which messages it reported on without holding them.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: process_work_batch
create or replace function wh_lost_items(p_lane text, p_message_ids uuid[])
returns setof wh_work_item
language plpgsql immutable
as $$
begin
  return query
  select p_lane, u.message_id, null::uuid, null::int, null::text, null::text, null::jsonb, null::jsonb, null::jsonb,
    null::int, {LeaseLost}, null::int, null::bigint, null::timestamptz
  from unnest(p_message_ids) as u(message_id);
end
$$;
