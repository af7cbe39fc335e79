-- Returns those of the keys that exist: [{key_id, key}], the key in base64. One that is missing was deleted by
-- wh_forget, or is of another service: what was sealed with it reads as null.
-- p_holds: until the end of the transaction nobody forgets their subjects, so that what is derived from the plain text
-- and written in this transaction is found by wh_forget, and erased as well.
-- Locks: with p_holds, rows of wh_subject_keys by key_id, shared, waiting; otherwise none.
-- Reads by: wh_subject_keys_key_id_key.
-- Raises: serialization_failure
-- Called by: keeping-functions.ts
create or replace function wh_read_keys(p_key_ids uuid[], p_holds boolean)
returns jsonb
language plpgsql security definer
set search_path from current
as $$
begin
  if p_holds then
    return coalesce((
      select jsonb_agg(jsonb_build_object('key_id', h.key_id, 'key', encode(h.key, 'base64')))
      from (select k.key_id, k.key from wh_subject_keys k where k.key_id = any(p_key_ids) order by k.key_id for key share) h), '[]');
  end if;
  return coalesce((
    select jsonb_agg(jsonb_build_object('key_id', k.key_id, 'key', encode(k.key, 'base64')))
    from wh_subject_keys k where k.key_id = any(p_key_ids)), '[]');
end
$$;
