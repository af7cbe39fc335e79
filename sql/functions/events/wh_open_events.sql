-- Locks the version rows that the call's events need: new events and arrivals that it admits.
-- Returns the rows that it got, and the streams whose append has to wait because another transaction has their row.
-- Locks: as wh_lock_versions.
-- Reads by: as wh_lock_versions.
-- Raises: unique_violation
-- Called by: wh_try_store
create or replace function wh_open_events(
  p_outbox wh_new_message[], p_inbox wh_new_message[], p_admitted wh_arrival[],
  out versions wh_stream_version[], out deferred uuid[]
)
language plpgsql
-- Nested loops over the arrays of a batch would be quadratic; see docs/internals/mechanism.md#plans-that-hold
set enable_nestloop = off
as $$
declare
  v_expected uuid[];
  v_wanted uuid[];
begin
  v_expected := array(
    select distinct n.stream_id from unnest(p_outbox || p_inbox) n
    where n.is_event and n.stream_id is not null and n.expected_version is not null
  );
  v_wanted := array(
    select n.stream_id from unnest(p_outbox || p_inbox) n where n.is_event and n.stream_id is not null
    union
    select a.stream_key from unnest(p_admitted) a where a.appends
  );
  versions := '{}';
  if cardinality(v_wanted) + cardinality(v_expected) > 0 then
    versions := wh_lock_versions(v_wanted, v_expected);
  end if;
  deferred := array(select unnest(v_wanted) except select v.stream_id from unnest(versions) v);
end
$$;
