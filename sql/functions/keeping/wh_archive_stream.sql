-- Moves the events of a stream to wh_event_archive. They are read as before, and the next event continues the version.
-- Returns {outcome, version, events}: the version up to which the stream is archived, and how many events of it are in
-- the archive. outcome: archived; unknown, if there is no such stream; changed, if it is not at p_at_version; unsealed,
-- if an event of it is in no tick yet; behind, if a perspective has not passed all of them. Then nothing is done.
-- An event that is moved is in a tick, or there are no ticks: the first ones are made of the archive too.
-- Locks: the row of wh_event_streams, waiting up to five seconds: nobody appends to the stream meanwhile; its events.
-- Reads by: primary key, the unique indexes on (stream_id, version); all ticks.
-- Raises: lock_not_available
-- Called by: keeping-functions.ts
create or replace function wh_archive_stream(p_stream_id uuid, p_at_version bigint default null)
returns jsonb
language plpgsql security definer
set search_path from current
set lock_timeout = '5s'
as $$
declare
  v_version bigint;
  v_numbers int8multirange;
begin
  select e.version into v_version from wh_event_streams e where e.stream_id = p_stream_id for update;
  if not found then
    return jsonb_build_object('outcome', 'unknown');
  elsif v_version <> p_at_version then
    return jsonb_build_object('outcome', 'changed');
  end if;
  select range_agg(int8range(s.sequence_number, s.sequence_number, '[]')) into v_numbers from wh_event_store s where s.stream_id = p_stream_id;
  if v_numbers is not null then
    if exists (select from wh_event_ticks)
      and not v_numbers <@ coalesce((select range_agg(t.covers) from wh_event_ticks t where t.covers && v_numbers), '{}') then
      return jsonb_build_object('outcome', 'unsealed');
    elsif not wh_perspectives_passed(p_stream_id, upper(v_numbers) - 1) then
      return jsonb_build_object('outcome', 'behind');
    end if;
    with moved as (
      delete from wh_event_store s where s.stream_id = p_stream_id returning s.*
    )
    insert into wh_event_archive (
      event_id, stream_id, version, event_type, aggregate_type, event_data, metadata, scope, sequence_number, created_at, transaction_id)
    select m.event_id, m.stream_id, m.version, m.event_type, m.aggregate_type, m.event_data, m.metadata, m.scope, m.sequence_number, m.created_at, m.transaction_id
    from moved m
    order by m.version;
  end if;
  return jsonb_build_object('outcome', 'archived', 'version', v_version,
    'events', (select count(*) from wh_event_archive a where a.stream_id = p_stream_id));
end
$$;
