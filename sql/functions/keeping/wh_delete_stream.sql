-- Deletes the events of a stream, archived ones too, and its kept states, and has its models folded again. Its version
-- stays: the next event, if there is one, continues it, so that nobody takes it for one that was deleted.
-- Returns {outcome, version}. outcome: deleted; unknown, if there is no such stream; changed, if it is not at
-- p_at_version; waiting, if an event of it is still to be appended, in the lane that is named. Then nothing is done.
-- Locks: the row of wh_event_streams, waiting up to five seconds: nobody appends to the stream meanwhile; its events
--   and its rows of wh_snapshots; as wh_fold_again.
-- Reads by: primary key, the unique indexes on (stream_id, version), wh_outbox_stream, wh_inbox_stream.
-- Raises: lock_not_available
-- Called by: keeping-functions.ts
create or replace function wh_delete_stream(p_stream_id uuid, p_at_version bigint default null)
returns jsonb
language plpgsql security definer
set search_path from current
set lock_timeout = '5s'
as $$
declare
  v_version bigint;
begin
  select e.version into v_version from wh_event_streams e where e.stream_id = p_stream_id for update;
  if not found then
    return jsonb_build_object('outcome', 'unknown');
  elsif v_version <> p_at_version then
    return jsonb_build_object('outcome', 'changed');
  elsif exists (select from wh_outbox m where m.stream_key = p_stream_id and m.processed_at is null and {is_unappended}) then
    return jsonb_build_object('outcome', 'waiting', 'lane', 'outbox');
  elsif exists (select from wh_inbox m where m.stream_key = p_stream_id and m.processed_at is null and {is_unappended}) then
    return jsonb_build_object('outcome', 'waiting', 'lane', 'inbox');
  end if;
  delete from wh_event_store s where s.stream_id = p_stream_id;
  delete from wh_event_archive a where a.stream_id = p_stream_id;
  delete from wh_snapshots s where s.stream_id = p_stream_id;
  update wh_event_streams e set deleted_through = e.version where e.stream_id = p_stream_id;
  perform wh_fold_again(array[p_stream_id]);
  return jsonb_build_object('outcome', 'deleted', 'version', v_version);
end
$$;
