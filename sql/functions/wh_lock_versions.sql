-- Takes the version rows of the streams that events are appended to, and returns those it got.
-- Locks: wh_event_streams by stream_id. Waits for a concurrent append that opens the same stream, and for the
-- rows in p_expected, whose caller wants its expected version checked. Any other locked row is skipped: it may
-- belong to an application's open transaction, and the append is left to admission.
create or replace function wh_lock_versions(p_stream_ids uuid[], p_expected uuid[])
returns wh_stream_version[]
language plpgsql
as $$
declare
  v_expected wh_stream_version[] := '{}';
  v_others wh_stream_version[] := '{}';
begin
  insert into wh_event_streams (stream_id, version)
  select distinct u.stream_id, 0 from unnest(p_stream_ids || p_expected) as u(stream_id) order by u.stream_id
  on conflict do nothing;
  if cardinality(p_expected) > 0 then
    select coalesce(array_agg(v::wh_stream_version), '{}') into v_expected
    from (
      select e.stream_id, e.version from wh_event_streams e
      where e.stream_id = any(p_expected)
      order by e.stream_id
      for no key update
    ) v;
  end if;
  if cardinality(p_stream_ids) > 0 then
    select coalesce(array_agg(v::wh_stream_version), '{}') into v_others
    from (
      select e.stream_id, e.version from wh_event_streams e
      where e.stream_id = any(p_stream_ids) and e.stream_id <> all(p_expected)
      order by e.stream_id
      for no key update skip locked
    ) v;
  end if;
  return v_expected || v_others;
end
$$;
