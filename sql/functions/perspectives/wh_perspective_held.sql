-- Returns the streams, or models of keys, that are held in a perspective, those first that are held for longest:
-- [{stream_id, key, version, event, event_id, error, attempts, since, retry_at}]. Null: there is no such perspective.
-- A stream that is folded again, and has not failed at an event yet, is not among them.
-- Locks: none
-- Reads by: wh_perspective_checkpoints_held.
-- Raises: none
-- Called by: model-functions.ts
create or replace function wh_perspective_held(p_name text, p_limit int default 1000)
returns json
language plpgsql stable security definer
set search_path from current
as $$
declare
  p wh_perspectives := wh_find_build(p_name);
begin
  if p.name is null then
    return null;
  end if;
  return (
    select coalesce(json_agg(h order by h.since, h.stream_id), '[]')
    from (
      select k.stream_id, k.model_key as key, k.failed_version as version, k.failed_type as event, k.failed_event_id as event_id, k.error,
             k.attempts, k.held_since as since, k.retry_at
      from wh_perspective_checkpoints k
      where k.perspective_name = p.name and k.held and k.failed_version is not null
      order by k.held_since, k.stream_id
      limit p_limit
    ) h);
end
$$;
