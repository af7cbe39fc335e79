-- Sends what is due by the clock of the database, in the order of the times; those of one time in the order in which
-- they were sent. One session does so at a time, so that this order holds across instances.
-- Returns how many it has sent, when the next one is due (seconds since 1970; null: none waits), and in how many
-- seconds to call again. With nothing due it reads one entry of an index.
-- A timer whose id somebody is storing in an open transaction is left for later, with its stream, after 0.2 seconds.
-- Locks: the advisory lock (TimerLock, schema), tried without waiting; then as wh_move_timers, 0.2 seconds at most.
-- Reads by: the first entry of wh_timers_due.
-- Raises: serialization_failure
-- Called by: timer-functions.ts
create or replace function wh_fire_timers(p_limit int default 500)
returns table (fired int, next_due double precision, wait_seconds double precision)
language plpgsql security definer
set search_path from current
-- One plan, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set jit = off set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
set lock_timeout = '200ms'
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_next timestamptz := (select t.due_at from wh_timers t order by t.due_at, t.timer_order limit 1);
  v_passed uuid[] := '{}';
  v_key uuid;
begin
  fired := 0;
  if v_next <= v_now and pg_try_advisory_xact_lock({TimerLock}, hashtext(current_schema())) then
    begin
      fired := wh_move_timers(v_now, p_limit, '{}');
    exception
      when lock_not_available then
        -- One by one, past those that have to wait for somebody.
        for v_try in 1..least(p_limit, 20) loop
          v_key := (
            select coalesce(t.stream_id, t.message_id) from wh_timers t
            where t.due_at <= v_now and coalesce(t.stream_id, t.message_id) <> all(v_passed)
            order by t.due_at, t.timer_order limit 1 for update skip locked);
          exit when v_key is null;
          begin
            fired := fired + wh_move_timers(v_now, 1, v_passed);
          exception
            when lock_not_available then v_passed := v_passed || v_key;
          end;
        end loop;
    end;
    v_next := (select t.due_at from wh_timers t order by t.due_at, t.timer_order limit 1);
  end if;
  next_due := extract(epoch from v_next);
  -- What is due and could not be sent is being sent or cancelled by somebody else.
  wait_seconds := greatest(extract(epoch from v_next - clock_timestamp()), case when fired > 0 then 0 else 0.02 end);
  return next;
end
$$;
