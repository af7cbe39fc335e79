-- The row that tells a caller, which has asked for it by the flag LookAgain, that the call has only put things in order and that
-- there is more: it need not wait before it calls again.
create or replace function wh_look_again()
returns setof wh_work_item
language sql immutable
as $$
  select 'call', null::uuid, null::uuid, null::int, null::text, null::text, null::jsonb, null::jsonb, null::jsonb,
    null::int, {LookAgain}, null::int, null::bigint, null::timestamptz
$$;
