-- Locks the version rows of the streams that events are appended to. Returns the rows that it got.
-- Streams in p_expected have a caller that wants its expected version checked; it waits for those rows. Any other row
-- that is locked, or being inserted, is left out: it may belong to an application's open transaction. Admission appends
-- those events later.
-- Locks: rows of wh_event_streams, by stream_id; new ones before existing ones; it waits for p_expected and skips the
--   others.
-- Reads by: primary key.
-- Raises: unique_violation if another call commits a new row first (wh_store tries again).
-- Called by: wh_append, wh_lock_stream, wh_open_events, wh_open_keys, wh_take_few_{lane}
create or replace function wh_lock_versions(p_stream_ids uuid[], p_expected uuid[])
returns wh_stream_version[]
language plpgsql
as $$
declare
  v_known uuid[] := array(select e.stream_id from wh_event_streams e where e.stream_id = any(p_stream_ids || p_expected));
  v_others uuid[];
  v_expected wh_stream_version[] := '{}';
begin
  if p_expected <> '{}' then
    if not p_expected <@ v_known then
      insert into wh_event_streams (stream_id, version)
      select u.stream_id, 0 from (select unnest(p_expected) except select unnest(v_known)) as u(stream_id) order by u.stream_id
      on conflict do nothing;
    end if;
    v_expected := array(
      select (e.stream_id, e.version)::wh_stream_version from wh_event_streams e
      where e.stream_id = any(p_expected)
      order by e.stream_id
      for no key update);
  end if;
  if p_stream_ids <@ p_expected then
    return v_expected;
  end if;
  v_others := array(select unnest(p_stream_ids) except select unnest(p_expected));
  perform wh_begin_versions(array(select u.stream_id from (select unnest(v_others) except select unnest(v_known)) as u(stream_id) order by u.stream_id));
  return v_expected || array(
    select (e.stream_id, e.version)::wh_stream_version from wh_event_streams e
    where e.stream_id = any(v_others)
    order by e.stream_id
    for no key update skip locked);
end
$$;
