-- Keeps the state of a stream at a version, so that a load reads only the events after it. It may be lost at any time.
-- An older state does not replace a newer one of the same fold. A state of events that were deleted since is not kept,
-- nor one that may have sealed fields in it whose key is gone since: p_key_ids are the keys that the load has returned.
-- Locks: a row of wh_event_streams and rows of wh_subject_keys by key_id, shared; a row of wh_snapshots. It waits, for
--   the first two only while the stream is deleted or a subject forgotten.
-- Reads by: primary key, wh_subject_keys_key_id_key.
-- Raises: serialization_failure
-- Called by: event-functions.ts
create or replace function wh_save_snapshot(
  p_stream_id uuid, p_decider text, p_fold text, p_version bigint, p_state json, p_key_ids uuid[] default '{}'
)
returns void
language plpgsql security definer
set search_path from current
as $$
declare
  v_keys uuid[];
begin
  perform from wh_event_streams e where e.stream_id = p_stream_id and e.deleted_through < p_version for key share;
  if not found then
    return;
  end if;
  v_keys := array(select k.key_id from wh_subject_keys k where k.key_id = any(p_key_ids) order by k.key_id for key share);
  if not p_key_ids <@ v_keys then
    return;
  end if;
  insert into wh_snapshots as s (stream_id, decider, fold, version, state)
  values (p_stream_id, p_decider, p_fold, p_version, p_state)
  on conflict (stream_id, decider) do update
  set fold = excluded.fold, version = excluded.version, state = excluded.state
  where s.fold <> excluded.fold or s.version < excluded.version;
end
$$;
