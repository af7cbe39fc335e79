-- The streams in which a new event would overtake plainly inserted ones that this call does not admit: what is stored
-- there is left to admission. Only possible when not all arrivals were read, or none for want of room.
create or replace function wh_new_behind_{lane}(c wh_call, p_messages wh_new_message[], p_arrivals wh_arrival[], p_room int)
returns uuid[]
language plpgsql stable
as $$
begin
  if p_messages = '{}'
     or p_room > 0 and cardinality(p_arrivals) < wh_admission_limit(p_room) and c.{lane}_admit_from <= c.{lane}_floor
  then
    return '{}';
  end if;
  return wh_behind_{lane}(c, array(select distinct m.stream_id from unnest(p_messages) m where m.is_event and m.stream_id is not null), p_arrivals, true);
end
$$;
