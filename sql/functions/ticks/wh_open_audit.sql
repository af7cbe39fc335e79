-- Returns how far the audit has come. If the tables were emptied since, or none was made before, it begins anew.
-- Locks: the row of wh_event_audit; the caller has the lock of wh_lock_ticks.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_audit_ticks
create or replace function wh_open_audit(p_newest_tick bigint)
returns wh_event_audit
language plpgsql
as $$
declare
  a wh_event_audit;
begin
  delete from wh_event_audit x where greatest(x.audited_tick, x.noted_tick, x.merged_tick) > p_newest_tick;
  insert into wh_event_audit (id) values (true) on conflict (id) do nothing;
  select x.* into a from wh_event_audit x;
  return a;
end
$$;
