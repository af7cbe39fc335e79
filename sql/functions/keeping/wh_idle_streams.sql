-- Finds streams that a rule of retention is about: their last event is of this aggregate or of one of these types
-- (null: of any), and older than so many days. p_archived: archived events are looked at too.
-- Looks at the next 500 events, from the oldest on. Returns {streams: [{stream_id, version}], after}: the next look
-- goes on behind the number in after; null: what comes then is too young, or there is nothing.
-- Locks: none
-- Reads by: wh_event_store_sequence and wh_event_archive_sequence; versions by primary key.
-- Raises: none
-- Called by: keeping-functions.ts
create or replace function wh_idle_streams(
  p_after bigint, p_days double precision, p_aggregate text, p_types text[], p_archived boolean
)
returns jsonb
language plpgsql stable security definer
set search_path from current
as $$
declare
  c_page constant int := 500;
  v_before timestamptz := clock_timestamp() - make_interval(secs => p_days * 86400);
begin
  return (
    with page as materialized (
      select x.* from (
        (select s.sequence_number, s.stream_id, s.version, s.event_type, s.aggregate_type, s.created_at
         from wh_event_store s where s.sequence_number > p_after order by s.sequence_number limit c_page)
        union all
        (select a.sequence_number, a.stream_id, a.version, a.event_type, a.aggregate_type, a.created_at
         from wh_event_archive a where p_archived and a.sequence_number > p_after order by a.sequence_number limit c_page)
      ) x
      order by x.sequence_number
      limit c_page
    ), idle as (
      select p.stream_id, p.version, p.sequence_number
      from page p
      join wh_event_streams e on e.stream_id = p.stream_id and e.version = p.version
      where p.created_at < v_before
        and (p_aggregate is null or p.aggregate_type = p_aggregate)
        and (p_types is null or p.event_type = any(p_types))
    )
    select jsonb_build_object(
      'streams', coalesce((
        select jsonb_agg(jsonb_build_object('stream_id', i.stream_id, 'version', i.version) order by i.sequence_number) from idle i), '[]'),
      'after', (select max(p.sequence_number) from page p having count(*) = c_page and min(p.created_at) < v_before)));
end
$$;
