-- Halts the live build of a perspective for two seconds at most, if another one that is to take over is close behind
-- it: all its ranges then come to stand at one place, where the other one takes over. Without this, a live build that
-- is never idle would always be a batch ahead.
-- Not more often than every ten seconds.
-- Locks: the row of wh_perspectives, skip locked.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_switch_over
create or replace function wh_halt_live(p_live text, p_other text)
returns void
language plpgsql
as $$
declare
  c_close_ticks constant int := 20;
  v_now timestamptz := clock_timestamp();
  l wh_place := wh_places(p_live);
  o wh_place := wh_places(p_other);
begin
  if o.is_swept or o.low_tick < l.low_tick - c_close_ticks then
    return;
  end if;
  update wh_perspectives x
  set halt_tick = l.high_tick, halt_upto = l.high_upto,
      halted_until = case when x.halted_until < v_now - interval '10 seconds' then v_now + interval '2 seconds' else x.halted_until end
  from (select y.name from wh_perspectives y where y.name = p_live for no key update skip locked) y
  where x.name = y.name;
end
$$;
