-- Returns what a perspective has to do next behind this bookmark; null: nothing. Held streams that are due come first.
-- {mode: 'held' | 'sweep' | 'log' | 'switch' (it has caught up with the live build), tick, upto, swept: where the
-- bookmark moves to, events, held, through}
-- Locks: none
-- Reads by: as the functions that it calls.
-- Raises: none
-- Called by: wh_move_bookmark, wh_take_bookmark
create or replace function wh_next_batch(p wh_perspectives, b wh_perspective_bookmarks, p_limit int)
returns json
language plpgsql
as $$
declare
  c_limit constant int := case when b.careful > 0 then 1 else p_limit end;
  v_next json;
begin
  if p.is_paused then
    return null;
  elsif b.swept is not null then
    return wh_next_swept(p, b, c_limit);
  end if;
  v_next := coalesce(wh_next_held(p, b, c_limit), wh_next_logged(p, b, c_limit));
  if v_next is null and p.state = 'beside' and p.switches then
    return json_build_object('mode', 'switch', 'tick', b.tick, 'upto', b.upto, 'swept', null, 'events', json_build_array());
  end if;
  return v_next;
end
$$;
