-- Notes how far the audit has come, and merges the ticks up to there.
-- A number up to that of a tick was taken before the tick was made. So when every transaction that had an id then has
-- ended, no more events appear among those numbers, and what this audit has looked through need not be looked through
-- again. The horizon is an id above all of those: that of this transaction, if it got it in this call. It is passed
-- when all transactions below it had ended before this call made its tick (p_ended_below).
-- A horizon that this cluster has not reached came with a dump, and is noted anew.
-- Locks: the row of wh_event_audit, rows of wh_event_ticks; the caller has the lock of wh_lock_ticks.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_audit_ticks
create or replace function wh_note_audit(a wh_event_audit, l wh_event_ticks, p_ended_below xid8, p_has_new_id boolean)
returns void
language plpgsql
as $$
begin
  if a.horizon <= p_ended_below then
    a.audited_tick := a.noted_tick;
    a.audited_high := a.noted_high;
    a.horizon := null;
  end if;
  if p_has_new_id and (a.horizon is null or a.horizon > pg_current_xact_id()) then
    a.noted_tick := l.tick;
    a.noted_high := l.high;
    a.horizon := pg_current_xact_id();
  end if;
  a.merged_tick := wh_merge_ticks(a.merged_tick, least(a.audited_tick, l.tick - 1));
  update wh_event_audit x
  set audited_tick = a.audited_tick, audited_high = a.audited_high, noted_tick = a.noted_tick, noted_high = a.noted_high,
      horizon = a.horizon, merged_tick = a.merged_tick, audited_at = clock_timestamp()
  where x.id;
end
$$;
