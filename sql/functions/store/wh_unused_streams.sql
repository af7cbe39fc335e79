-- Returns the streams that were opened for the caller's messages and in which none was leased. If every message was
-- leased there is none.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: wh_try_store
create or replace function wh_unused_streams(p_lane text, p_opened wh_open_stream[], p_messages wh_new_message[], p_leased uuid[])
returns uuid[]
language plpgsql immutable
as $$
begin
  if cardinality(p_leased) = cardinality(p_messages) then
    return '{}';
  end if;
  return array(
    select s.stream_id from unnest(p_opened) s where s.lane = p_lane and s.fresh and s.held
    except
    select m.stream_key from unnest(p_messages) m where m.message_id = any(p_leased)
  );
end
$$;
