-- The careful variant of wh_transfer, for messages that it could not transfer in one step. If a receiver fails, only
-- the messages that it fails for fail.
-- All other receivers get everything, these messages too. Messages that failed for a receiver stay, with the reason,
-- and are tried again; receivers that have them already know their ids. What follows them in their streams stays in the
-- outbox.
-- A command that no schema listens to fails, and nothing behind it in its stream is delivered.
-- outcome: settled, lost (not held), failed (error: {schema, sqlstate, message}), held-back.
-- It runs with the rights of its caller, as wh_transfer does.
-- Locks: as a call that renews (its streams, so that no other call delivers from them meanwhile), then as wh_receive,
--   one schema after the other; it waits.
-- Reads by: as the functions that it calls.
-- Raises: WB001, WB003, serialization_failure, and errors of classes 40, 53 and 58 (conflicts, no resources), which
--   are no receiver's fault.
-- Called by: functions.ts
create or replace function wh_transfer_each(
  p_instance_id uuid, p_service_name text, p_host_name text, p_process_id int, p_message_ids uuid[]
)
returns table (message_id uuid, outcome text, error text)
language plpgsql
set search_path from current
as $$
declare
  c_nobodys_fault constant text[] := array['40', '53', '58'];
  v_messages jsonb := wh_outgoing(p_instance_id, p_message_ids);
  v_held uuid[] := array(select x.message_id from jsonb_to_recordset(v_messages) as x(message_id uuid));
  v_settled uuid[];
  v_receivers name[];
  v_speakers name[]; -- those that can be asked what they listen to
  v_schema name;
  v_heard text[];
  v_unheard text[];
  v_message jsonb;
  v_stream text;
  v_stopped text[];
  v_sqlstate text;
  v_reason text;
  v_errors jsonb := '{}'; -- by message_id
begin
  select array_agg(r.schema order by r.schema), array_agg(r.schema) filter (where r.can_say)
  into v_receivers, v_speakers
  from wh_receivers() r;
  -- This does not change a longer lease. It only checks the lease and locks the streams.
  v_held := array(
    select unnest(v_held) except
    select w.message_id
    from process_work_batch(
      p_instance_id => p_instance_id, p_service_name => p_service_name, p_host_name => p_host_name, p_process_id => p_process_id,
      p_renew_outbox_lease_ids => v_held, p_lease_seconds => 1,
      p_max_outbox_items => 0, p_max_inbox_items => 0, p_max_perspective_items => 0) w);
  v_messages := (
    select coalesce(jsonb_agg(e.message order by e.place), '[]')
    from jsonb_array_elements(v_messages) with ordinality as e(message, place)
    where (e.message ->> 'message_id')::uuid = any(v_held));

  v_unheard := array(
    select distinct x.destination
    from jsonb_to_recordset(v_messages) as x(destination text, metadata jsonb)
    where x.metadata ->> 'kind' = 'command');
  foreach v_schema in array v_receivers loop
    exit when v_unheard = '{}';
    v_heard := v_unheard; -- older, not granted or broken: it counts as listening
    if v_schema = any(v_speakers) then
      begin
        execute format('select %I.wh_listens($1)', v_schema) into v_heard using v_unheard;
      exception when others then
        v_heard := v_unheard;
      end;
    end if;
    v_unheard := array(select unnest(v_unheard) except select unnest(v_heard));
  end loop;
  select coalesce(jsonb_object_agg(x.message_id, jsonb_build_object('sqlstate', 'WB004', 'message', format('no service listens to %I', x.destination))), '{}')
  into v_errors
  from jsonb_to_recordset(v_messages) as x(message_id uuid, destination text, metadata jsonb)
  where x.destination = any(v_unheard) and x.metadata ->> 'kind' = 'command';
  if v_errors <> '{}' then
    v_messages := (
      select coalesce(jsonb_agg(e.message order by e.place), '[]')
      from (
        select m.message, m.place,
          bool_or(v_errors ? (m.message ->> 'message_id')) over (
            partition by coalesce(m.message ->> 'stream_id', m.message ->> 'message_id') order by m.place) as is_stopped
        from jsonb_array_elements(v_messages) with ordinality as m(message, place)
      ) e
      where not e.is_stopped);
  end if;

  foreach v_schema in array v_receivers loop
    begin
      execute format('select %I.wh_receive($1)', v_schema) using v_messages;
    exception when others then
      get stacked diagnostics v_sqlstate = returned_sqlstate;
      if left(v_sqlstate, 2) = any(c_nobodys_fault) then
        raise;
      end if;
      v_stopped := '{}';
      for v_message in
        select e.message from jsonb_array_elements(v_messages) with ordinality as e(message, place) order by e.place
      loop
        v_stream := coalesce(v_message ->> 'stream_id', v_message ->> 'message_id');
        continue when v_stream = any(v_stopped);
        begin
          execute format('select %I.wh_receive($1)', v_schema) using jsonb_build_array(v_message);
        exception when others then
          get stacked diagnostics v_sqlstate = returned_sqlstate, v_reason = message_text;
          if left(v_sqlstate, 2) = any(c_nobodys_fault) then
            raise;
          end if;
          v_stopped := v_stopped || v_stream;
          v_errors := v_errors || jsonb_build_object(
            v_message ->> 'message_id', jsonb_build_object('schema', v_schema, 'sqlstate', v_sqlstate, 'message', v_reason));
        end;
      end loop;
    end;
  end loop;

  v_settled := array(
    select e.message_id
    from (
      select m.message_id,
        bool_or(v_errors ? m.message_id::text) over (
          partition by coalesce(m.stream_id, m.message_id) order by m.place) as is_stopped
      from rows from (jsonb_to_recordset(v_messages) as (message_id uuid, stream_id uuid)) with ordinality as m(message_id, stream_id, place)
    ) e
    where not e.is_stopped);
  if v_settled <> '{}' then
    perform from process_work_batch(
      p_instance_id => p_instance_id, p_service_name => p_service_name, p_host_name => p_host_name, p_process_id => p_process_id,
      p_outbox_completions => (select jsonb_agg(jsonb_build_object('message_id', s, 'status', 4)) from unnest(v_settled) s),
      p_max_outbox_items => 0, p_max_inbox_items => 0, p_max_perspective_items => 0);
  end if;
  return query
  select u.message_id,
    case when u.message_id <> all(v_held) then 'lost'
         when u.message_id = any(v_settled) then 'settled'
         when v_errors ? u.message_id::text then 'failed'
         else 'held-back'
    end,
    v_errors ->> u.message_id::text
  from unnest(p_message_ids) as u(message_id);
end
$$;
