-- Writes down that an operator acts on these dead letters, with their ids and types, before it does.
-- Locks: as wh_note_operation.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_discard_dead_letters, wh_retry_dead_letters
create or replace function wh_note_letters(
  p_who text, p_operation text, p_message_id uuid, p_stream_id uuid, p_type text, p_numbers bigint[]
)
returns void
language plpgsql
as $$
begin
  perform wh_note_operation(p_who, p_operation,
    concat_ws(', ', 'message ' || p_message_id, 'stream ' || p_stream_id, 'type ' || p_type),
    (select jsonb_build_object('letters', jsonb_agg(jsonb_build_object('number', d.dead_letter_id, 'message_id', d.message_id, 'lane', d.source,
              'type', d.event_type, 'stream_id', d.stream_id, 'died_at', d.died_at) order by d.dead_letter_id))
     from wh_dead_letters d
     where d.dead_letter_id = any(p_numbers)));
end
$$;
