-- Returns what the whole service is like, for metrics; null if another instance tells it. That is, of the living
-- instances whose facts say that they observe, the one with the lowest id. Counts stop at 10 001. {lanes: [{lane,
-- streams: {due, scheduled, limited, unhandled, paused}, leases, new_messages, age_seconds, dead_letters}], instances:
-- {living, silent}, perspectives: [{name, lag_events, lag_seconds, held}]}
-- Locks: none
-- Reads by: all instances; as wh_lane_status and wh_perspective_lag; wh_perspective_checkpoints_held.
-- Raises: none
-- Called by: operate-functions.ts
create or replace function wh_gauges(p_instance_id uuid)
returns json
language plpgsql stable security definer
set search_path from current
as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  if p_instance_id is distinct from (
    select i.instance_id from wh_service_instances i
    where i.facts ->> 'observes' = 'true' and i.last_heartbeat_at >= v_now - make_interval(secs => i.stale_threshold_seconds)
    order by i.instance_id limit 1)
  then
    return null;
  end if;
  return json_build_object(
    'lanes', (
      select json_agg(json_build_object(
        'lane', l.lane,
        'streams', json_build_object(
          'due', l.due_streams, 'scheduled', l.scheduled_streams, 'limited', l.limited_streams,
          'unhandled', l.unhandled_streams, 'paused', l.paused_streams),
        'leases', l.leased_streams, 'new_messages', l.unadmitted_messages, 'dead_letters', l.dead_letters,
        'age_seconds', greatest(coalesce(extract(epoch from v_now - l.oldest_due_at), 0), 0)))
      from wh_lane_status l),
    'instances', (
      select json_build_object(
        'living', count(*) filter (where i.last_heartbeat_at >= v_now - make_interval(secs => i.stale_threshold_seconds)),
        'silent', count(*) filter (where i.last_heartbeat_at < v_now - make_interval(secs => i.stale_threshold_seconds)))
      from wh_service_instances i),
    'perspectives', (
      select coalesce(json_agg(json_build_object(
        'name', p.base_name, 'lag_events', l.events, 'held', h.held,
        'lag_seconds', case when l.events = 0 then 0 else greatest(coalesce(extract(epoch from v_now - l.waits_since), 0), 0) end)), '[]')
      from wh_perspectives p
      cross join lateral wh_perspective_lag(p) l
      cross join lateral (
        select count(*) as held from (
          select 1 from wh_perspective_checkpoints k where k.perspective_name = p.name and k.held limit 10001) k) h
      where p.state = 'live'));
end
$$;
