-- The rows that tell the caller which messages it reported on without holding them.
create or replace function wh_lost_items(p_outbox uuid[], p_inbox uuid[])
returns setof wh_work_item
language plpgsql immutable
as $$
begin
  return query
  select u.lane, u.message_id, null::uuid, null::int, null::text, null::text, null::jsonb, null::jsonb, null::jsonb,
    null::int, 64, null::int, null::bigint, null::timestamptz
  from (
    select 'outbox' as lane, o as message_id from unnest(p_outbox) o
    union all
    select 'inbox', i from unnest(p_inbox) i
  ) u;
end
$$;
