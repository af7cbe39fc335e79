-- Makes the first ticks of a store with events, and the first ones after its tables were restored into another cluster,
-- whose transaction ids say nothing about the events that came with the dump. Called with the newest tick, or with a
-- row of nulls. Returns the newest tick number, null if there is none.
-- It seals every event that is visible, without those of the caller's own transaction, and that no tick has: those
-- numbered above all ticks, and those that the newest tick (of the other cluster) counts as not ended.
-- Events whose transaction id is one of the future, or of a transaction that runs, came with a dump. restored_through
-- makes sure that they are not sealed again when the ids of this cluster get there; what is appended here has higher
-- numbers.
-- Locks: new rows of wh_event_ticks; the caller has the lock of wh_lock_ticks.
-- Reads by: wh_event_store_sequence, from the highest number that a tick has; wh_event_store_transaction.
-- Raises: none
-- Called by: wh_tick
create or replace function wh_begin_ticks(l wh_event_ticks)
returns bigint
language plpgsql
as $$
declare
  v_own xid8 := pg_current_xact_id_if_assigned();
begin
  with taken as materialized (
    select pg_current_snapshot() as snapshot
  ), mark as materialized (
    select pg_snapshot_xmax(t.snapshot) as next_xid,
           array(
             select x.xid
             from (select pg_snapshot_xip(t.snapshot) as xid union select v_own where v_own < pg_snapshot_xmax(t.snapshot)) x
             order by x.xid) as open
    from taken t
  ), stranger as materialized (
    select exists (select from wh_event_store e where e.transaction_id >= m.next_xid and e.transaction_id is distinct from v_own)
        or exists (select from wh_event_store e where e.transaction_id = any(m.open) and e.transaction_id is distinct from v_own) as is_found
    from mark m
  ), marks as materialized (
    select m.next_xid, m.open, false as is_late, coalesce(case when s.is_found then (
        select e.sequence_number from wh_event_store e
        where (e.transaction_id >= m.next_xid or e.transaction_id = any(m.open)) and e.transaction_id is distinct from v_own
        order by e.sequence_number desc
        limit 1) end, l.restored_through, 0) as restored_through
    from mark m cross join stranger s
  ), seen as materialized (
    select e.sequence_number, e.event_type from wh_events e
    where e.sequence_number > coalesce(l.high, 0) and e.transaction_id is distinct from v_own
    union all
    select e.sequence_number, e.event_type from wh_event_store e
    where (e.transaction_id >= l.next_xid or e.transaction_id = any(l.open)) and e.transaction_id is distinct from v_own
      and e.sequence_number > l.restored_through and e.sequence_number <= l.high
  )
  {insert_ticks};
  return (select t.tick from wh_event_ticks t order by t.tick desc limit 1);
end
$$;
