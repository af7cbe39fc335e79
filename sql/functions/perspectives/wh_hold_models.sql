-- Writes which streams, or models of keys, are held, and which are not any more.
-- p_holds: [{stream_id | model_key, last_version, passed_version, quiet_version, failed_version, failed_event_id,
-- failed_type, tick, upto, error, retry_seconds}]: an event has failed. retry_seconds null: it waits for somebody to
-- act.
-- p_passed: [{stream_id, version, quiet_version}]: events of held streams that the bookmark passes.
-- p_applied: [{stream_id | model_key, last_version, tick, upto}]: a retry has come so far, and goes on. The event that
-- had failed is behind it: failed_version > last_version is not true any more, of a key neither.
-- p_freed: [{stream_id | model_key}]: nothing is left; what was skipped is kept.
-- Locks: rows of wh_perspective_checkpoints, waiting.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_move_bookmark, wh_store_streams
create or replace function wh_hold_models(p_name text, p_holds jsonb, p_passed jsonb, p_applied jsonb, p_freed jsonb)
returns void
language plpgsql
as $$
begin
  insert into wh_perspective_checkpoints as k (stream_id, perspective_name, last_version, status, error, updated_at, held, held_since, attempts,
    retry_at, passed_version, quiet_version, failed_version, failed_event_id, failed_type, model_key, held_tick, held_upto)
  select coalesce(h.stream_id, md5(h.model_key)::uuid), p_name, coalesce(h.last_version, 0), {Failed}, h.error, clock_timestamp(), true,
    clock_timestamp(), 1, clock_timestamp() + make_interval(secs => h.retry_seconds), h.passed_version, coalesce(h.quiet_version, 0),
    h.failed_version, h.failed_event_id, h.failed_type, h.model_key, h.tick, h.upto
  from jsonb_to_recordset(p_holds) as h(stream_id uuid, model_key text, last_version bigint, passed_version bigint, quiet_version bigint,
    failed_version bigint, failed_event_id uuid, failed_type text, tick bigint, upto bigint, error text, retry_seconds numeric)
  order by 1
  on conflict (stream_id, perspective_name) do update
  set last_version = excluded.last_version, error = excluded.error, updated_at = excluded.updated_at, held = true, status = excluded.status,
      held_since = case when k.held then k.held_since else excluded.held_since end,
      attempts = case when k.held and k.failed_event_id = excluded.failed_event_id then k.attempts + 1 else 1 end,
      retry_at = excluded.retry_at,
      passed_version = case when k.held then greatest(k.passed_version, excluded.passed_version) else excluded.passed_version end,
      quiet_version = case when k.held then greatest(k.quiet_version, excluded.quiet_version) else excluded.quiet_version end,
      failed_version = excluded.failed_version, failed_event_id = excluded.failed_event_id, failed_type = excluded.failed_type,
      model_key = excluded.model_key, held_tick = excluded.held_tick, held_upto = excluded.held_upto
  -- Not if somebody has skipped the event while it was tried.
  where k.skipped @> jsonb_build_array(jsonb_build_object('event_id', excluded.failed_event_id)) is not true;
  update wh_perspective_checkpoints k
  set passed_version = greatest(k.passed_version, x.version), quiet_version = greatest(k.quiet_version, x.quiet_version)
  from jsonb_to_recordset(p_passed) as x(stream_id uuid, version bigint, quiet_version bigint)
  where k.stream_id = x.stream_id and k.perspective_name = p_name and k.held;
  update wh_perspective_checkpoints k
  set last_version = case when k.model_key is null then coalesce(x.last_version, k.last_version) else k.failed_version end,
      held_tick = coalesce(x.tick, k.held_tick), held_upto = coalesce(x.upto, k.held_upto), retry_at = clock_timestamp()
  from jsonb_to_recordset(p_applied) as x(stream_id uuid, model_key text, last_version bigint, tick bigint, upto bigint)
  where k.stream_id = coalesce(x.stream_id, md5(x.model_key)::uuid) and k.perspective_name = p_name and k.held;
  delete from wh_perspective_checkpoints k
  using jsonb_to_recordset(p_freed) as x(stream_id uuid, model_key text)
  where k.stream_id = coalesce(x.stream_id, md5(x.model_key)::uuid) and k.perspective_name = p_name and k.held and k.skipped is null;
  update wh_perspective_checkpoints k
  set held = false, retry_at = null, error = null, status = {PerspectiveProcessed}, last_version = coalesce(k.passed_version, k.last_version), updated_at = clock_timestamp()
  from jsonb_to_recordset(p_freed) as x(stream_id uuid, model_key text)
  where k.stream_id = coalesce(x.stream_id, md5(x.model_key)::uuid) and k.perspective_name = p_name and k.held;
end
$$;
