-- The PostgreSQL transport. Those of these outbox messages that the instance holds go into the inbox of every schema
-- that subscribes to their address, and are completed as Published, in one transaction. So a message is there exactly
-- when it is gone here.
-- An event that no schema subscribes to is completed too. A command that no schema receives fails the call, because its
-- sender relies on it. A schema that cannot say what it listens to, being older or not granted, counts as listening.
-- settled is false for messages that the instance does not hold; that is not an error.
-- Messages are completed, with the lease checked, before they are delivered, so that an instance that has lost its
-- lease delivers nothing. The completion also locks the streams, so the order of a stream is the order of its
-- transfers. (In the other order such copies would do no harm, because receivers know their ids.)
-- It runs with the rights of its caller and reaches the schemas whose wh_receive the caller may execute, by name. Their
-- functions run as their owners, so no foreign code runs with the caller's rights.
-- Locks: as a call that completes, then as wh_receive, one schema after the other; it waits.
-- Reads by: as the functions that it calls.
-- Raises: WB001, WB003, WB004, serialization_failure, and what a receiver raises.
-- Called by: functions.ts
create or replace function wh_transfer(
  p_instance_id uuid, p_service_name text, p_host_name text, p_process_id int, p_message_ids uuid[]
)
returns table (message_id uuid, settled boolean)
language plpgsql
set search_path from current
as $$
declare
  v_messages jsonb := wh_outgoing(p_instance_id, p_message_ids);
  v_held uuid[] := array(select x.message_id from jsonb_to_recordset(v_messages) as x(message_id uuid));
  v_lost uuid[];
  v_schema name;
  v_can_say boolean;
  v_heard text[];
  v_unheard text[]; -- addresses of commands for which no receiver was found yet
begin
  v_lost := array(
    select w.message_id
    from process_work_batch(
      p_instance_id => p_instance_id, p_service_name => p_service_name, p_host_name => p_host_name, p_process_id => p_process_id,
      p_outbox_completions => (select jsonb_agg(jsonb_build_object('message_id', h, 'status', 4)) from unnest(v_held) h),
      p_max_outbox_items => 0, p_max_inbox_items => 0, p_max_perspective_items => 0) w);
  if v_lost <> '{}' then
    v_held := array(select unnest(v_held) except select unnest(v_lost));
    v_messages := (
      select coalesce(jsonb_agg(e.message order by e.place), '[]')
      from jsonb_array_elements(v_messages) with ordinality as e(message, place)
      where (e.message ->> 'message_id')::uuid = any(v_held));
  end if;
  if v_held <> '{}' then
    v_unheard := array(
      select distinct x.destination
      from jsonb_to_recordset(v_messages) as x(destination text, metadata jsonb)
      where x.metadata ->> 'kind' = 'command');
    for v_schema, v_can_say in select r.schema, r.can_say from wh_receivers() r
    loop
      execute format('select %I.wh_receive($1)', v_schema) using v_messages;
      if v_unheard <> '{}' then
        v_heard := v_unheard;
        if v_can_say then
          execute format('select %I.wh_listens($1)', v_schema) into v_heard using v_unheard;
        end if;
        v_unheard := array(select unnest(v_unheard) except select unnest(v_heard));
      end if;
    end loop;
    if v_unheard <> '{}' then
      raise exception using
        errcode = 'WB004',
        message = format('no service listens to %s', (select string_agg(quote_ident(u), ', ' order by u) from unnest(v_unheard) u)),
        hint = 'Nothing was changed. Correct the destination, or start its service once in this database.';
    end if;
  end if;
  return query select u.message_id, u.message_id = any(v_held) from unnest(p_message_ids) as u(message_id);
end
$$;
