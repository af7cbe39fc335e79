-- Returns dead letters, the newest first: those of a message, a stream or a type, or all; below the number p_before.
-- Locks: none
-- Reads by: wh_dead_letters_message, wh_dead_letters_stream, wh_dead_letters_type, or primary key.
-- Raises: none
-- Called by: operate-functions.ts
create or replace function wh_list_dead_letters(
  p_message_id uuid default null, p_stream_id uuid default null, p_type text default null,
  p_before bigint default {Everything}, p_limit int default 100
)
returns table (
  dead_letter_id bigint, message_id uuid, source text, event_type text, event_data jsonb, scope jsonb, stream_id uuid, destination text,
  attempts int, error text, failures jsonb, stored_at timestamptz, died_at timestamptz
)
language plpgsql stable security definer
set search_path from current
set plan_cache_mode = force_custom_plan
as $$
begin
  return query
  select d.dead_letter_id, d.message_id, d.source, d.event_type, d.event_data, d.scope, d.stream_id, d.destination,
    d.attempts, d.error, d.failures, d.stored_at, d.died_at
  from wh_dead_letters d
  where d.dead_letter_id < p_before
    and (p_message_id is null or d.message_id = p_message_id)
    and (p_stream_id is null or d.stream_id = p_stream_id)
    and (p_type is null or d.event_type = p_type)
  order by d.dead_letter_id desc
  limit p_limit;
end
$$;
