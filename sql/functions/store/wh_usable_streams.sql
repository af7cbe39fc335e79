-- Returns the open streams without those whose version row was locked (what is stored there waits for admission). A
-- stream with something else unfinished is returned as not held.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: wh_try_store
create or replace function wh_usable_streams(
  p_streams wh_open_stream[], p_dirty_outbox uuid[], p_dirty_inbox uuid[], p_deferred uuid[]
)
returns wh_open_stream[]
language plpgsql immutable
-- Nested loops over the arrays of a batch would be quadratic; see docs/internals/mechanism.md#plans-that-hold
set enable_nestloop = off
as $$
begin
  return (
    select coalesce(array_agg((s.lane, s.stream_id, s.fresh, s.held and d.stream_id is null, s.lease_expiry, s.head, s.held_through)::wh_open_stream), '{}')
    from unnest(p_streams) s
    left join (
      select distinct 'outbox' as lane, o as stream_id from unnest(p_dirty_outbox) o
      union all
      select distinct 'inbox', i from unnest(p_dirty_inbox) i
    ) d on d.lane = s.lane and d.stream_id = s.stream_id
    left join (select distinct e as stream_id from unnest(p_deferred) e) l on l.stream_id = s.stream_id
    where l.stream_id is null
  );
end
$$;
