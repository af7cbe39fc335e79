-- Returns the keys of these subjects, made where there were none, and notes in which streams their sealed events are:
-- [{subject, key_id, key}], the key in base64. subjects[i] has an event in stream_ids[i]; null: in none.
-- p_locks: the caller appends to these streams in this transaction. They are locked first, as wh_append does it, so
-- that a decision, which has locked its stream before it gets here, cannot deadlock with it.
-- Until the end of the transaction nobody forgets these subjects: see wh_forget.
-- Locks: with p_locks as wh_lock_versions; rows of wh_subject_keys by subject, new ones before existing ones, shared;
--   new rows of wh_subject_streams, by key. It waits.
-- Reads by: primary key.
-- Raises: serialization_failure
-- Called by: keeping-functions.ts
create or replace function wh_open_keys(p_subjects text[], p_stream_ids uuid[], p_locks boolean)
returns jsonb
language plpgsql security definer
set search_path from current
as $$
declare
  v_subjects text[] := array(select distinct u collate "C" from unnest(p_subjects) u order by 1);
  v_keys jsonb;
begin
  if p_locks then
    perform wh_lock_versions('{}', array(select distinct u from unnest(p_stream_ids) u where u is not null order by u));
  end if;
  -- A key that is being deleted is in the way of the insert, and gone after the wait: then once more.
  for v_try in 1..5 loop
    insert into wh_subject_keys (subject)
    select u from unnest(v_subjects) u where not exists (select from wh_subject_keys k where k.subject = u) order by u collate "C"
    on conflict do nothing;
    with held as materialized (
      select k.subject, k.key_id, k.key from wh_subject_keys k where k.subject = any(v_subjects) order by k.subject for key share
    )
    select jsonb_agg(jsonb_build_object('subject', h.subject, 'key_id', h.key_id, 'key', encode(h.key, 'base64'))) into v_keys from held h;
    exit when jsonb_array_length(v_keys) = cardinality(v_subjects);
  end loop;
  if jsonb_array_length(v_keys) is distinct from cardinality(v_subjects) then
    raise exception using errcode = 'serialization_failure', message = 'a subject is being forgotten', hint = 'Run the transaction again.';
  end if;
  insert into wh_subject_streams (subject, stream_id)
  select distinct u.subject collate "C", u.stream_id from unnest(p_subjects, p_stream_ids) as u(subject, stream_id)
  where u.stream_id is not null and not exists (select from wh_subject_streams s where s.subject = u.subject and s.stream_id = u.stream_id)
  order by 1, 2
  on conflict do nothing;
  return v_keys;
end
$$;
