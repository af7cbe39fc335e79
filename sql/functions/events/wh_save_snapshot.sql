-- Keeps the state of a stream at a version, so that a load reads only the events after it. It may be lost at any time.
-- An older state does not replace a newer one of the same fold.
-- Locks: a row of wh_snapshots, waiting.
-- Reads by: primary key.
-- Raises: none
-- Called by: event-functions.ts
create or replace function wh_save_snapshot(p_stream_id uuid, p_decider text, p_fold text, p_version bigint, p_state json)
returns void
language sql security definer
set search_path from current
as $$
  insert into wh_snapshots as s (stream_id, decider, fold, version, state)
  values (p_stream_id, p_decider, p_fold, p_version, p_state)
  on conflict (stream_id, decider) do update
  set fold = excluded.fold, version = excluded.version, state = excluded.state
  where s.fold <> excluded.fold or s.version < excluded.version
$$;
