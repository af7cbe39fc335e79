-- As wh_tick, for callers that have its lock and mostly find nothing to seal: returns the newest tick number, 0 if
-- there is none.
-- When no transaction runs, and the newest tick has left none open, whatever it has not sealed is of a transaction from
-- its next_xid on, and has ended. If there is no such event, wh_tick would look in vain; it costs five times as much.
-- Whatever begins meanwhile has an id that is not below the end of the snapshot: uncommitted events are not read.
-- Locks: as wh_tick; the caller has taken wh_lock_ticks in a statement before.
-- Reads by: the newest tick by primary key; wh_event_store_transaction.
-- Raises: WB003
-- Called by: wh_look_for_perspectives
create or replace function wh_tick_if_due()
returns bigint
language plpgsql
as $$
declare
  v_snapshot pg_snapshot := pg_current_snapshot();
  v_next_xid xid8 := pg_snapshot_xmax(v_snapshot);
  v_newest bigint;
begin
  if pg_snapshot_xmin(v_snapshot) = v_next_xid then
    select t.tick into v_newest
    from (select x.tick, x.open, x.next_xid from wh_event_ticks x order by x.tick desc limit 1) t
    where t.open = '{}' and t.next_xid <= v_next_xid
      and not exists (select from wh_event_store e where e.transaction_id >= t.next_xid and e.transaction_id < v_next_xid);
  end if;
  return coalesce(v_newest, wh_tick(), 0);
end
$$;
