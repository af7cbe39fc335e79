-- Returns the row that tells a caller with the flag LookAgain that the call has only put things in order and that there
-- is more: it need not wait before it calls again.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: process_work_batch, wh_claim_perspectives
create or replace function wh_look_again()
returns setof wh_work_item
language sql immutable
as $$
  select 'call', null::uuid, null::uuid, null::int, null::text, null::text, null::jsonb, null::jsonb, null::jsonb,
    null::int, {LookAgain}, null::int, null::bigint, null::timestamptz
$$;
