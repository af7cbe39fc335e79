-- Returns what holds a perspective up, the most decisive fact of several, as a clause; null: nothing does.
-- p_failing: as wh_failing_batch.
-- A session that has appended events and has not ended is found by its lock, as far as the caller may see sessions.
-- Locks: none
-- Reads by: all rows of wh_service_instances; wh_perspective_checkpoints_held; pg_locks.
-- Raises: none
-- Called by: wh_perspective_status
create or replace function wh_why_behind(p wh_perspectives, p_percent int, p_held bigint, p_failing json)
returns text
language plpgsql stable
as $$
declare
  v_pid int;
  v_since timestamptz;
begin
  if p.is_paused then
    return 'it is paused';
  elsif not exists (
    select from wh_service_instances i
    where p.code = any(i.perspectives) and i.last_heartbeat_at >= clock_timestamp() - make_interval(secs => i.stale_threshold_seconds))
  then
    return format('no running instance has its code, %s', p.code);
  elsif p_failing is not null then
    return format('the batch behind %s-%s fails, %s so far: %s', p_failing ->> 'tick', p_failing ->> 'upto',
      case p_failing ->> 'failures' when '1' then 'once' else p_failing ->> 'failures' || ' times' end, split_part(p_failing ->> 'error', E'\n', 1));
  elsif p.state = any(array['building', 'beside']) then
    return format('it is being built, and %s %% of the history is read', p_percent);
  elsif p_held > 0 then
    return format('%s %s held after a failure', p_held,
      case when p.kind = 'keyed' then case p_held when 1 then 'model is' else 'models are' end
           else case p_held when 1 then 'stream is' else 'streams are' end end);
  end if;
  select l.pid, a.xact_start into v_pid, v_since
  from pg_locks l
  left join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'relation' and l.relation = to_regclass('wh_event_store') and l.mode = 'RowExclusiveLock' and l.granted
    and l.database = (select d.oid from pg_database d where d.datname = current_database())
    and l.pid <> pg_backend_pid() and coalesce(a.xact_start < clock_timestamp() - interval '1 second', true)
  order by a.xact_start nulls last
  limit 1;
  if v_pid is null then
    return null;
  end if;
  return format('the session %s has appended events and its transaction is open%s', v_pid,
    coalesce(format(' for %s s', floor(extract(epoch from clock_timestamp() - v_since))), ''));
end
$$;
