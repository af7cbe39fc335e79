-- Returns what the state of a stream is folded from: the snapshot of this decider, if there is one of the same fold,
-- and the events after it, at most so many. In one statement, so that both belong together.
-- deleted_through: the events up to this version were deleted. key_ids: the keys of the subjects that the stream may
-- have sealed events of; wh_save_snapshot wants them.
-- Locks: none
-- Reads by: primary key, the unique index on (stream_id, version), wh_subject_streams_stream.
-- Raises: none
-- Called by: event-functions.ts
create or replace function wh_load_stream(p_stream_id uuid, p_decider text, p_fold text, p_limit int)
returns json
language sql stable security definer
set search_path from current
as $$
  with snapshot as (
    select s.version, s.state from wh_snapshots s where s.stream_id = p_stream_id and s.decider = p_decider and s.fold = p_fold
  )
  select json_build_object(
    'snapshot', (select to_json(s) from snapshot s),
    'deleted_through', coalesce((select e.deleted_through from wh_event_streams e where e.stream_id = p_stream_id), 0),
    'key_ids', array(
      select k.key_id from wh_subject_streams s join wh_subject_keys k on k.subject = s.subject
      where s.stream_id = p_stream_id order by k.key_id),
    'events', coalesce((
      select json_agg(e order by e.version)
      from wh_read_stream(p_stream_id, (select s.version from snapshot s), p_limit, false) e), '[]'))
$$;
