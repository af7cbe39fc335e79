-- Returns a message and its state, one row; none if the schema does not know it (any more).
-- A message that is in the inbox is shown there, else in the outbox, else as a timer, else as a dead letter. If only
-- its id is kept, or its history, it is finished.
-- Locks: none
-- Reads by: primary key; wh_dead_letters_message; wh_history_message.
-- Raises: none
-- Called by: operate-functions.ts
create or replace function wh_find_message(p_message_id uuid)
returns setof wh_found_message
language plpgsql stable security definer
set search_path from current
as $$
begin
  return query select * from wh_find_in_inbox(p_message_id);
  if not found then
    return query select * from wh_find_in_outbox(p_message_id);
  end if;
  if not found then
    return query
    select t.message_id, 'scheduled', 'outbox', t.event_type, t.event_data, t.scope, t.stream_id, 0, null::text, t.created_at,
      t.due_at, null::uuid, null::uuid, null::jsonb
    from wh_timers t
    where t.message_id = p_message_id;
  end if;
  if not found then
    return query
    select d.message_id, 'dead', d.source, d.event_type, d.event_data, d.scope, d.stream_id, d.attempts, d.error, d.stored_at,
      null::timestamptz, null::uuid, null::uuid, d.failures
    from wh_dead_letters d
    where d.message_id = p_message_id
    order by d.dead_letter_id desc
    limit 1;
  end if;
  if not found then
    return query
    select h.message_id, 'finished', h.lane, h.event_type, null::jsonb, null::jsonb, h.stream_id, h.attempts, null::text, h.stored_at,
      null::timestamptz, null::uuid, null::uuid, h.failures
    from wh_history h
    where h.message_id = p_message_id
    order by h.lane, h.finished_at desc
    limit 1;
  end if;
  if not found then
    return query
    select i.message_id, 'finished', 'inbox', null::text, null::jsonb, null::jsonb, null::uuid, null::int, null::text, i.first_seen_at,
      null::timestamptz, null::uuid, null::uuid, null::jsonb
    from wh_message_deduplication i
    where i.message_id = p_message_id;
  end if;
end
$$;
