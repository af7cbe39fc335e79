-- process_work_batch for instances that send by the PostgreSQL transport: what it claims from the outbox for this schema itself goes to
-- the inbox in the same transaction, and is handed out from there. From commit to handler there is then one call, and one wait for
-- the disk, instead of three.
-- Returns what process_work_batch does. An outbox message without a lease has gone, and only its id is told. What other schemas listen to
-- is handed out, for wh_transfer, with the rest of its stream: nothing of theirs is waited for inside a call. So is everything when
-- it cannot go, or is so big that the call would not be answered in time.
-- Runs with the rights of its caller, as wh_transfer does. Locks: as process_work_batch; then, each waited for only
-- briefly, as wh_try_transfer and as process_work_batch once more: what cannot be had at once is left.
create or replace function wh_process_and_transfer(
  p_instance_id uuid,
  p_service_name text,
  p_host_name text,
  p_process_id int,
  p_metadata jsonb default null,
  p_outbox_completions jsonb default null,
  p_outbox_failures jsonb default null,
  p_inbox_completions jsonb default null,
  p_inbox_failures jsonb default null,
  p_receptor_completions jsonb default null,
  p_receptor_failures jsonb default null,
  p_perspective_completions jsonb default null,
  p_perspective_failures jsonb default null,
  p_new_outbox_messages jsonb default null,
  p_new_inbox_messages jsonb default null,
  p_renew_outbox_lease_ids uuid[] default null,
  p_renew_inbox_lease_ids uuid[] default null,
  p_flags int default 0,
  p_partition_count int default 10000,
  p_max_partitions_per_instance int default null,
  p_lease_seconds int default 300,
  p_stale_threshold_seconds int default 600,
  p_max_outbox_items int default 1000,
  p_max_inbox_items int default 1000,
  p_max_perspective_items int default 1000,
  p_takeover_seconds numeric default 5,
  p_inbox_handlers text[] default null,
  p_spare_outbox_streams int default 0,
  p_spare_inbox_streams int default 0
)
returns setof wh_work_item
language plpgsql
set search_path from current
as $$
declare
  c_most_bytes constant int := 1000000; -- as stored; compressed as well as can be it takes 3 s, and a call has 5
  v_items wh_work_item[] := array(
    select w from process_work_batch(
      p_instance_id, p_service_name, p_host_name, p_process_id, p_metadata, p_outbox_completions, p_outbox_failures,
      p_inbox_completions, p_inbox_failures, p_receptor_completions, p_receptor_failures, p_perspective_completions,
      p_perspective_failures, p_new_outbox_messages, p_new_inbox_messages, p_renew_outbox_lease_ids, p_renew_inbox_lease_ids,
      p_flags, p_partition_count, p_max_partitions_per_instance, p_lease_seconds, p_stale_threshold_seconds,
      p_max_outbox_items, p_max_inbox_items, p_max_perspective_items, p_takeover_seconds, p_inbox_handlers,
      p_spare_outbox_streams, p_spare_inbox_streams) w);
  v_addresses text[];
  v_bytes bigint;
  v_elsewhere text[];
  v_own uuid[]; -- what goes
  v_back int; -- how many of those come back
  v_taken uuid[]; -- the streams of what it has handed out of the inbox before
  v_more wh_work_item[];
  v_in_call text;
  v_is_gone boolean := false;
begin
  select array_agg(distinct i.destination), sum(pg_column_size(i)) into v_addresses, v_bytes
  from unnest(v_items) i
  where i.source = 'outbox' and i.flags & 64 = 0;
  if v_bytes <= c_most_bytes then
    v_elsewhere := wh_heard_elsewhere(v_addresses);
    v_own := array(
      select e.message_id
      from (
        select i.message_id, bool_or(i.destination = any(v_elsewhere)) over (partition by coalesce(i.stream_id, i.message_id)) as leaves
        from unnest(v_items) i
        where i.source = 'outbox' and i.flags & 64 = 0
      ) e
      where not e.leaves);
    if v_own <> '{}' then
      -- What comes back is looked for below: its trigger need not tell anybody.
      v_in_call := set_config('whizbang.in_call', current_schema(), true);
      v_is_gone := wh_try_transfer(p_instance_id, p_service_name, p_host_name, p_process_id, v_own);
      v_in_call := set_config('whizbang.in_call', '', true);
    end if;
  end if;
  if not v_is_gone then
    return query select * from unnest(v_items);
    return;
  end if;
  return query select * from unnest(v_items) i where i.source <> 'outbox' or i.flags & 64 <> 0 or i.message_id <> all(v_own);
  return query
  select 'outbox', o.message_id, null::uuid, 0, '', '', null::jsonb, null::jsonb, null::jsonb, 0, 0, 0, 0::bigint, null::timestamptz
  from unnest(v_own) as o(message_id);

  v_addresses := wh_listens(v_addresses);
  v_back := (select count(*) from unnest(v_items) i where i.message_id = any(v_own) and i.source = 'outbox' and i.destination = any(v_addresses));
  if v_back = 0 then
    return;
  end if;
  v_taken := array(select coalesce(i.stream_id, i.message_id) from unnest(v_items) i where i.source = 'inbox' and i.flags & 64 = 0);
  v_more := wh_try_claim(p_instance_id, p_service_name, p_host_name, p_process_id, p_partition_count, p_max_partitions_per_instance,
    p_lease_seconds, p_stale_threshold_seconds, p_max_inbox_items - cardinality(v_taken), p_takeover_seconds, p_inbox_handlers,
    greatest(0, p_spare_inbox_streams - (select count(distinct t) from unnest(v_taken) t)::int));
  if (select count(*) from unnest(v_more) m where m.message_id = any(v_own)) < v_back then
    perform wh_wake();
  end if;
  return query select * from unnest(v_more);
end
$$;
