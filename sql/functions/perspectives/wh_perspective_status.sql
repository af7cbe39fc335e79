-- Returns how every build of every perspective is, or those that a name means, as wh_find_build: [{name, version,
-- build, state, is_paused, lag_events, lag_seconds, rate, seconds_left, held, failing: {tick, upto: behind which the
-- batch lies that fails, failures, since, error}, cause}]. Numbers of events are estimates, and bounded in cost. Only
-- events that are in a tick count: make one before.
-- Locks: none
-- Reads by: all rows of wh_perspectives; as the functions that it calls.
-- Raises: none
-- Called by: model-functions.ts
create or replace function wh_perspective_status(p_name text default null)
returns json
language plpgsql stable security definer
set search_path from current
as $$
begin
  return (
    select coalesce(json_agg(json_build_object(
      'name', p.base_name, 'version', p.version, 'build', p.build, 'state', p.state, 'is_paused', p.is_paused, 'lag_events', l.events,
      'lag_seconds', case when l.events = 0 then 0 else greatest(round(extract(epoch from clock_timestamp() - l.waits_since)::numeric, 3), 0) end,
      'rate', round(l.rate, 1), 'seconds_left', case when l.events = 0 then 0 when l.rate > 0 then ceil(l.events / l.rate) end,
      'held', h.held, 'failing', f.failing, 'cause', wh_why_behind(p, l.percent, h.held, f.failing)) order by p.base_name, p.version, p.build), '[]')
    from wh_perspectives p
    cross join lateral wh_perspective_lag(p) l
    cross join lateral (select count(*) as held from wh_perspective_checkpoints k where k.perspective_name = p.name and k.held) h
    cross join lateral (select wh_failing_batch(p) as failing) f
    where p_name is null or p.name = (wh_find_build(p_name)).name);
end
$$;
