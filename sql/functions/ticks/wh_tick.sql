-- Seals the events of all transactions that have ended since the newest tick, as the next tick. Returns the newest tick
-- number, null if there is none. It writes nothing when there is nothing to seal, and never waits: if another session
-- is making a tick, that one counts.
-- A transaction has ended for a tick if its id is below next_xid and not in open. These marks are taken before the
-- events are read, so every event of such a transaction is visible then. The transactions that this tick has more than
-- the last one are sealed now, as spans between those that run: uncommitted events are not read, however many.
-- The caller's own transaction counts as open: it may append more.
-- Call it in a short transaction: until that ends nobody else makes a tick.
-- Locks: as wh_lock_ticks; new rows of wh_event_ticks.
-- Reads by: the newest tick by primary key; wh_event_store_transaction.
-- Raises: WB003
-- Called by: event-functions.ts, wh_audit_ticks, wh_register_perspective, wh_tick_if_due
create or replace function wh_tick()
returns bigint
language plpgsql security definer
set search_path from current
-- One index search per span, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  l wh_event_ticks; -- the last one
  v_has_lock boolean := wh_lock_ticks();
  v_own xid8 := pg_current_xact_id_if_assigned();
  v_snapshot pg_snapshot;
  v_next_xid xid8;
  v_open xid8[];
  v_before xid8;
begin
  select t.* into l from wh_event_ticks t order by t.tick desc limit 1;
  if not v_has_lock then
    return l.tick;
  end if;
  v_snapshot := pg_current_snapshot();
  v_next_xid := pg_snapshot_xmax(v_snapshot);
  v_open := array(
    select x.xid from (select pg_snapshot_xip(v_snapshot) as xid union select v_own where v_own < v_next_xid) x order by x.xid);
  if l.tick is null or l.next_xid > v_next_xid then
    return wh_begin_ticks(l);
  elsif l.next_xid = v_next_xid and l.open = v_open then
    return l.tick; -- no transaction has ended
  end if;
  v_before := (l.next_xid::text::bigint - 1)::text::xid8;
  with span as (
    select p.xid as above, lead(p.xid, 1, v_next_xid) over (order by p.xid) as below
    from (select v_before as xid union all select o from unnest(v_open) o where o >= l.next_xid) p
  ), seen as materialized (
    select e.sequence_number, e.event_type
    from span
    cross join lateral (
      select * from wh_event_store x where x.transaction_id > span.above and x.transaction_id < span.below offset 0
    ) e
    where e.sequence_number > l.restored_through
    union all
    select e.sequence_number, e.event_type
    from unnest(l.open) as ended(xid)
    cross join lateral (select * from wh_event_store x where x.transaction_id = ended.xid offset 0) e
    where ended.xid <> all(v_open) and e.sequence_number > l.restored_through
  ), marks as (
    select v_next_xid as next_xid, v_open as open, l.restored_through as restored_through, false as is_late
  )
  {insert_ticks};
  return (select t.tick from wh_event_ticks t order by t.tick desc limit 1);
end
$$;
