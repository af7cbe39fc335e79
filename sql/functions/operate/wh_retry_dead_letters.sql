-- Puts dead letters back at the end of their streams, in the order in which they were stored: of a message, of a stream
-- or of a type, the next p_limit behind the number p_after. They have all their attempts again and keep their history.
-- Returns what it put back, or would (p_dry_run), and where: is_behind tells whether unfinished messages of the stream
-- are before it. A dead letter whose message is in its lane again already stays, and is not returned.
-- If it returns none, none are left.
-- Locks: rows of wh_dead_letters, skip locked; new message rows.
-- Reads by: as wh_pick_dead_letters; messages by primary key and wh_outbox_stream, wh_inbox_stream.
-- Raises: WB001
-- Called by: operate-functions.ts
create or replace function wh_retry_dead_letters(
  p_message_id uuid default null, p_stream_id uuid default null, p_type text default null, p_dry_run boolean default false,
  p_after bigint default 0, p_limit int default 1000, p_who text default null
)
returns table (dead_letter_id bigint, message_id uuid, source text, event_type text, stream_id uuid, is_behind boolean)
language plpgsql security definer
set search_path from current
as $$
#variable_conflict use_column
declare
  v_page bigint[];
  v_numbers bigint[];
begin
  loop
    v_page := wh_pick_dead_letters(p_message_id, p_stream_id, p_type, p_after, p_limit, not p_dry_run);
    v_numbers := array(
      select d.dead_letter_id from wh_dead_letters d
      where d.dead_letter_id = any(v_page)
        and case when d.source = 'inbox' then not exists (select from wh_inbox m where m.message_id = d.message_id)
                 else not exists (select from wh_outbox m where m.message_id = d.message_id) end
      order by d.dead_letter_id);
    exit when v_numbers <> '{}' or v_page = '{}';
    p_after := v_page[cardinality(v_page)];
  end loop;
  return query
  select d.dead_letter_id, d.message_id, d.source, d.event_type, d.stream_id,
    case when d.source = 'inbox' then exists (select from wh_inbox m where m.stream_key = d.stream_id and m.processed_at is null)
         else exists (select from wh_outbox m where m.stream_key = d.stream_id and m.processed_at is null) end
  from wh_dead_letters d
  where d.dead_letter_id = any(v_numbers)
  order by d.sequence_order, d.dead_letter_id;
  if p_dry_run or v_numbers = '{}' then
    return;
  end if;
  perform wh_note_letters(p_who, 'retry-dead-letters', p_message_id, p_stream_id, p_type, v_numbers);
  with dead as (
    delete from wh_dead_letters d where d.dead_letter_id = any(v_numbers) returning d.*
  ), sent as (
    insert into wh_outbox (message_id, destination, event_type, event_data, metadata, scope, stream_id, is_event, failures, priority)
    select d.message_id, d.destination, d.event_type, d.event_data, d.metadata, d.scope, d.stream_id, d.is_event, d.failures, d.priority
    from dead d where d.source = 'outbox' order by d.sequence_order, d.dead_letter_id
  )
  -- Without is_event: an event that has arrived was appended then.
  insert into wh_inbox (message_id, handler_name, event_type, event_data, metadata, scope, stream_id, failures, priority)
  select d.message_id, d.destination, d.event_type, d.event_data, d.metadata, d.scope, d.stream_id, d.failures, d.priority
  from dead d where d.source = 'inbox' order by d.sequence_order, d.dead_letter_id;
end
$$;
