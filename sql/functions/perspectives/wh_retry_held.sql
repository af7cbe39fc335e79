-- Makes what is held in a perspective due at once: the stream, or the model of the key, that one of p_ids names.
-- Returns how many there are.
-- Locks: rows of wh_perspective_checkpoints, waiting; as wh_notify_all.
-- Reads by: wh_perspective_checkpoints_held.
-- Raises: WB001
-- Called by: model-functions.ts
create or replace function wh_retry_held(p_name text, p_ids text[])
returns int
language plpgsql security definer
set search_path from current
as $$
declare
  p wh_perspectives := wh_find_build(p_name);
  v_count int;
begin
  if p.name is null then
    perform wh_refuse('p_name', format('is %s, and there is no such perspective', p_name));
  end if;
  update wh_perspective_checkpoints k set retry_at = clock_timestamp()
  where k.perspective_name = p.name and k.held and coalesce(k.model_key, k.stream_id::text) = any(p_ids);
  get diagnostics v_count = row_count;
  if v_count = 0 then
    perform wh_refuse('p_ids', format('is %s, which is not held in %s', p_ids[1], p.name));
  end if;
  perform wh_notify_all();
  return v_count;
end
$$;
