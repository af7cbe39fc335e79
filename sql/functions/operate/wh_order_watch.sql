-- Tells an instance what it did out of order: {last, found}. found: rows of wh_order_violations behind p_after that are
-- its own. last: where the next look begins. A look reads a thousand rows at most.
-- Locks: none
-- Reads by: primary key.
-- Raises: none
-- Called by: operate-functions.ts
create or replace function wh_order_watch(p_instance_id uuid, p_after bigint)
returns jsonb
language sql stable security definer
set search_path from current
as $$
  select jsonb_build_object('last', coalesce(max(v.id), p_after), 'found', coalesce(jsonb_agg(jsonb_build_object(
    'kind', v.kind, 'lane', v.lane, 'streamId', v.stream_id, 'messageId', v.message_id, 'otherId', v.other_id)
    order by v.id) filter (where v.instance_id = p_instance_id), '[]'))
  from (select o.* from wh_order_violations o where o.id > p_after order by o.id limit 1000) v
$$;
