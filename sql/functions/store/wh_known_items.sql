-- Returns the rows that tell a caller with the flag Duplicate which of its new messages were left out, because their
-- ids are known.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: process_work_batch
create or replace function wh_known_items(p_stored wh_stored)
returns setof wh_work_item
language plpgsql immutable
as $$
begin
  return query
  select k.lane, k.message_id, null::uuid, null::int, null::text, null::text, null::jsonb, null::jsonb, null::jsonb,
    null::int, {Duplicate}, null::int, null::bigint, null::timestamptz
  from (
    select 'outbox' as lane, unnest(p_stored.outbox_known) as message_id
    union all
    select 'inbox', unnest(p_stored.inbox_known)
  ) k;
end
$$;
