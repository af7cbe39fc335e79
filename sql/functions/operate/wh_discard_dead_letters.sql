-- Deletes dead letters: of a message, of a stream or of a type, the next p_limit behind the number p_after. Returns
-- those that it deleted, or would (p_dry_run).
-- The operation is written down with the ids of what it deletes, not with their payloads.
-- Locks: rows of wh_dead_letters, skip locked.
-- Reads by: as wh_pick_dead_letters.
-- Raises: WB001
-- Called by: operate-functions.ts
create or replace function wh_discard_dead_letters(
  p_message_id uuid default null, p_stream_id uuid default null, p_type text default null, p_dry_run boolean default false,
  p_after bigint default 0, p_limit int default 1000, p_who text default null
)
returns table (dead_letter_id bigint, message_id uuid, source text, event_type text, stream_id uuid)
language plpgsql security definer
set search_path from current
as $$
#variable_conflict use_column
declare
  v_numbers bigint[] := wh_pick_dead_letters(p_message_id, p_stream_id, p_type, p_after, p_limit, not p_dry_run);
begin
  return query
  select d.dead_letter_id, d.message_id, d.source, d.event_type, d.stream_id
  from wh_dead_letters d
  where d.dead_letter_id = any(v_numbers)
  order by d.dead_letter_id;
  if not p_dry_run and v_numbers <> '{}' then
    perform wh_note_letters(p_who, 'discard-dead-letters', p_message_id, p_stream_id, p_type, v_numbers);
    delete from wh_dead_letters d where d.dead_letter_id = any(v_numbers);
  end if;
end
$$;
