-- Whether a perspective has something to do behind this bookmark: a tick has one of its types, a held stream is due,
-- the sweep is not over, it is to become live, or it is behind the live build.
-- Ticks that have none of its types are passed by here, when there are more than 100: later looks begin behind them.
-- Locks: the row of the bookmark, skip locked, if it is moved.
-- Reads by: ticks by primary key, at most 200; wh_perspective_checkpoints_held.
-- Raises: none
-- Called by: wh_claim_bookmarks
create or replace function wh_is_due(p wh_perspectives, b wh_perspective_bookmarks, p_now timestamptz, p_newest bigint)
returns boolean
language plpgsql
as $$
declare
  c_most_ticks constant int := 200;
  v_live_tick bigint;
  v_live_upto bigint;
  v_is_wanted boolean;
  v_tick bigint;
  v_upto bigint;
  v_ticks int;
begin
  if b.swept is not null or p.state = 'building' or exists (
    select from wh_perspective_checkpoints k where k.perspective_name = p.name and k.held and k.retry_at <= p_now)
  then
    return true;
  elsif p.state <> 'live' then
    select l.tick, l.upto into v_live_tick, v_live_upto from wh_live_position(p.base_name) l;
    return v_live_tick is null or (wh_present_tick(b.tick), b.upto) < (v_live_tick, v_live_upto)
      or p.state = 'beside' and p.switches and p.switch_after <= p_now;
  elsif p.halted_until > p_now and (wh_present_tick(b.tick), b.upto) >= (wh_present_tick(p.halt_tick), p.halt_upto) then
    return false;
  elsif b.tick > coalesce(p_newest, 0) then
    -- The tables of events were emptied, as test suites do: ticks begin anew.
    update wh_perspective_bookmarks x set tick = 0, upto = 0
    where x.name = b.name and x.from_partition = b.from_partition and x.tick = b.tick and x.upto = b.upto;
    return false;
  end if;
  select bool_or(n.types && p.event_types), max(n.tick), max(n.top) filter (where n.tick = n.last_tick), count(*)
  into v_is_wanted, v_tick, v_upto, v_ticks
  from (
    select t.tick, t.types, upper(t.covers) - 1 as top, max(t.tick) over () as last_tick
    from wh_event_ticks t
    where t.tick >= b.tick and (t.first_tick > b.tick or t.covers && int8range(b.upto, null, '()'))
    order by t.tick
    limit c_most_ticks
  ) n;
  if v_is_wanted is not true and v_ticks > 100 then
    perform wh_pass_by(b, v_tick, v_upto);
  end if;
  return v_is_wanted is true;
end
$$;
