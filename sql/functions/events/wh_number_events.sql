-- Returns the versions of new events: each follows the one before it in its stream, the first the version of the
-- stream. Refuses an event whose writer expects another version before it.
-- Locks: none; the caller has locked the version rows of all their streams.
-- Reads by: no table
-- Raises: WB002
-- Called by: wh_append, wh_append_events
create or replace function wh_number_events(p_locked wh_stream_version[], p_new wh_new_events)
returns bigint[]
language plpgsql
-- Nested loops over the arrays of a batch would be quadratic; see docs/internals/mechanism.md#plans-that-hold
set enable_nestloop = off
as $$
declare
  v_versions bigint[];
  v_wrong bigint;
begin
  with numbered as (
    select n.ord, n.expected_version, l.version + row_number() over (partition by n.stream_id order by n.ord) as version
    from unnest(p_new.stream_ids, p_new.expected_versions) with ordinality as n(stream_id, expected_version, ord)
    join unnest(p_locked) l on l.stream_id = n.stream_id
  )
  select array_agg(n.version order by n.ord), min(n.ord) filter (where n.expected_version <> n.version - 1)
  into v_versions, v_wrong
  from numbered n;
  if v_wrong is not null then
    perform wh_refuse_version(p_new.stream_ids[v_wrong], p_new.expected_versions[v_wrong], v_versions[v_wrong] - 1);
  end if;
  return v_versions;
end
$$;
