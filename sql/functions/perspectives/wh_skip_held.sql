-- Passes over the event at which a stream, or the model of a key, is held in a perspective; what is behind it is tried
-- at once. The event, the reason, who and when are kept in the row. Refused if the event that failed is not at
-- p_version of its stream, or is behind it by now: somebody else was faster.
-- What was read of the perspective before is refused when it is stored: it may have the event in its models.
-- Locks: as wh_lock_bookmarks; the row of wh_perspective_checkpoints, waiting; as wh_notify_all.
-- Reads by: bookmarks by primary key; wh_perspective_checkpoints_held.
-- Raises: WB001; lock_not_available if a batch of your own tables takes longer than 10 s.
-- Called by: model-functions.ts
create or replace function wh_skip_held(p_name text, p_ids text[], p_version bigint, p_reason text, p_who text)
returns void
language plpgsql security definer
set search_path from current
set lock_timeout = '10s'
as $$
declare
  p wh_perspectives := wh_find_build(p_name);
  k wh_perspective_checkpoints;
begin
  if p.name is null then
    perform wh_refuse('p_name', format('is %s, and there is no such perspective', p_name));
  elsif coalesce(p_reason, '') = '' then
    perform wh_refuse('p_reason', 'is needed');
  end if;
  if not wh_lock_bookmarks(array[p.name]) then
    raise exception using
      errcode = 'lock_not_available',
      message = format('wh_skip_held: a batch of %s has not ended for 10 s', p.name),
      hint = 'Nothing was skipped. Try again when it has ended.';
  end if;
  select x.* into k from wh_perspective_checkpoints x
  where x.perspective_name = p.name and x.held and coalesce(x.model_key, x.stream_id::text) = any(p_ids)
  order by x.stream_id
  limit 1
  for update;
  if k.stream_id is null then
    perform wh_refuse('p_ids', format('is %s, which is not held in %s', p_ids[1], p.name));
  elsif (k.failed_version > k.last_version) is not true then
    perform wh_refuse('p_version', format('is %s, and %s is not held at an event now: what comes next is about to be tried', p_version, p_ids[1]));
  elsif k.failed_version is distinct from p_version then
    perform wh_refuse('p_version', format('is %s, and %s is held at version %s', p_version, p_ids[1], k.failed_version));
  end if;
  update wh_perspective_bookmarks b
  set instance_id = null, lease_expiry = null, fence = b.fence + 1
  where b.name = p.name;
  update wh_perspective_checkpoints x
  set last_version = k.failed_version,
      -- The place before the event; its number is the next one.
      held_upto = k.held_upto + 1,
      attempts = 0, retry_at = clock_timestamp(),
      skipped = coalesce(k.skipped, '[]') || jsonb_build_object('version', k.failed_version, 'event_id', k.failed_event_id,
        'event', k.failed_type, 'reason', p_reason, 'who', p_who, 'at', clock_timestamp())
  where x.stream_id = k.stream_id and x.perspective_name = k.perspective_name;
  perform wh_notify_all();
end
$$;
