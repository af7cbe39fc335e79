-- Returns the streams in which a new event would overtake plainly inserted events that this call does not admit. What
-- is stored there is left to admission.
-- Either the call has read those events and their stream is locked by another call, or it has not read them all.
-- Locks: none
-- Reads by: as wh_unappended_streams_{lane}.
-- Raises: none
-- Called by: wh_try_store
create or replace function wh_events_out_of_turn_{lane}(
  c wh_call, p_messages wh_new_message[], p_arrivals wh_arrival[], p_admitted wh_arrival[]
)
returns uuid[]
language plpgsql stable
as $$
begin
  if p_messages = '{}' then
    return '{}';
  end if;
  if c.{lane}_all_seen then
    return array(
      select a.stream_key from unnest(p_arrivals) a where a.appends
      except
      select d.stream_key from unnest(p_admitted) d);
  end if;
  return wh_unappended_streams_{lane}(c, array(select distinct m.stream_id from unnest(p_messages) m where m.is_event and m.stream_id is not null), p_arrivals, true)
    || array(select a.stream_key from unnest(p_arrivals) a where a.appends except select d.stream_key from unnest(p_admitted) d);
end
$$;
