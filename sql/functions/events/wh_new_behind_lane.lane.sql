-- The streams in which a new event would overtake plainly inserted ones that this call does not admit: what is stored
-- there is left to admission. Either it read them and somebody has their stream locked, or it did not read them all.
create or replace function wh_new_behind_{lane}(
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
  return wh_behind_{lane}(c, array(select distinct m.stream_id from unnest(p_messages) m where m.is_event and m.stream_id is not null), p_arrivals, true)
    || array(select a.stream_key from unnest(p_arrivals) a where a.appends except select d.stream_key from unnest(p_admitted) d);
end
$$;
