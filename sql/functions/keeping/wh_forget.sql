-- Erases what is sealed of a subject: deletes its key, without which its sealed fields cannot be read any more, in
-- whatever table, backup or other service. Deletes the kept states of its streams, and has their models folded again.
-- Returns {had_key, streams, rebuild}: the streams, and the perspectives of many streams, or of the user's own tables,
-- that may have what is erased in their models.
-- It waits for transactions that have sealed for this subject, or have read its keys to write what they made of it, and
-- those that come after it find no key. So what they have written is deleted here, and nothing is written later. It
-- waits for at most half a second and holds nothing else meanwhile: whoever calls it tries again.
-- Locks: the row of wh_subject_keys; rows of wh_subject_streams and wh_snapshots of the subject; as wh_fold_again.
-- Reads by: primary key.
-- Raises: lock_not_available
-- Called by: keeping-functions.ts
create or replace function wh_forget(p_subject text)
returns jsonb
language plpgsql security definer
set search_path from current
set lock_timeout = '500ms'
as $$
declare
  v_had_key boolean;
  v_stream_ids uuid[];
begin
  delete from wh_subject_keys k where k.subject = p_subject;
  v_had_key := found;
  -- Statements after the wait: they see what those transactions have committed.
  with gone as (
    delete from wh_subject_streams s where s.subject = p_subject returning s.stream_id
  )
  select coalesce(array_agg(g.stream_id order by g.stream_id), '{}') into v_stream_ids from gone g;
  delete from wh_snapshots s where s.stream_id = any(v_stream_ids);
  perform wh_fold_again(v_stream_ids);
  return jsonb_build_object('had_key', v_had_key, 'streams', to_jsonb(v_stream_ids), 'rebuild', (
    select coalesce(jsonb_agg(distinct p.base_name), '[]')
    from wh_perspectives p
    where p.kind <> 'stream' and exists (
      select from wh_events e where e.stream_id = any(v_stream_ids) and e.event_type = any(p.event_types))));
end
$$;
