-- Returns these messages without those of the given streams. Messages with an expected version stay: their writer wants
-- them appended now or refused.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: wh_try_store
create or replace function wh_messages_outside(p_messages wh_new_message[], p_stream_ids uuid[])
returns wh_new_message[]
language plpgsql immutable
as $$
begin
  if p_stream_ids = '{}' then
    return p_messages;
  end if;
  return array(
    select m::wh_new_message from unnest(p_messages) m
    where m.stream_id is null or m.expected_version is not null or m.stream_id <> all(p_stream_ids)
    order by m.ord);
end
$$;
