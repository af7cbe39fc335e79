-- Tells whether a stream of a lane waits because an operator has paused it, the handler that it waits for, or the
-- intake.
-- Locks: none
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_find_in_{lane}
create or replace function wh_is_paused(p_lane text, p_stream_id uuid, p_waits_for text)
returns boolean
language sql stable
as $$
  select exists (select from wh_pauses p where p.kind = 'stream' and p.name = p_stream_id::text)
    or p_lane = 'inbox' and exists (select from wh_pauses p where p.kind = 'intake')
    -- A limit with a key is named after the handler, U+001F, and the key.
    or exists (select from wh_pauses p where p.kind = 'type' and p.name = split_part(p_waits_for, chr(31), 1))
$$;
