-- Looks for events that ticks have missed, by a method of its own: it ticks, and then reads the numbers that no tick
-- has. An event there should be in a tick if its transaction had ended before, or if the newest tick counts it as
-- ended. Such events are sealed as the next tick, so that every reader gets them, and reported by a warning and as the
-- result: their numbers, at most 1 000. It should never find any.
-- An event whose transaction id cannot be of this cluster (a row that was copied in) is found too. The transaction id
-- of what is found is removed, so that no later tick seals it again.
-- Also merges old ticks. Run it about once a minute, by whoever reads events, in a transaction of its own.
-- What was looked through is not looked through again: see wh_note_audit.
-- Locks: as wh_lock_ticks, otherwise it does nothing; rows of wh_event_ticks and wh_event_audit; events it found.
-- Reads by: ticks by primary key; wh_event_store_sequence, only numbers that no tick has.
-- Raises: WB003
-- Called by: event-functions.ts
create or replace function wh_audit_ticks()
returns bigint[]
language plpgsql security definer
set search_path from current
-- One index search per gap, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  l wh_event_ticks; -- the newest one
  a wh_event_audit;
  v_own xid8 := pg_current_xact_id_if_assigned();
  v_ended_below xid8;
  v_found uuid[];
  v_numbers bigint[];
begin
  if not wh_lock_ticks() then
    return '{}';
  end if;
  v_ended_below := pg_snapshot_xmin(pg_current_snapshot());
  perform wh_tick();
  select t.* into l from wh_event_ticks t order by t.tick desc limit 1;
  if l.tick is null then
    return '{}';
  end if;
  a := wh_open_audit(l.tick);
  with gap as (
    select unnest(int8multirange(int8range(a.audited_high, null, '()')) - coalesce(range_agg(t.covers), '{}')) as numbers
    from wh_event_ticks t
    where t.tick > a.audited_tick
  ), missed as materialized (
    select e.event_id, e.sequence_number, e.event_type
    from gap
    cross join lateral (
      select * from wh_event_store x
      where x.sequence_number >= lower(gap.numbers) and x.sequence_number < coalesce(upper(gap.numbers), {Everything})
      offset 0
    ) e
    where e.transaction_id is distinct from v_own
      and (e.transaction_id < v_ended_below or e.transaction_id < l.next_xid and e.transaction_id <> all(l.open)
        or not pg_visible_in_snapshot(e.transaction_id, pg_current_snapshot()))
  ), seen as (
    select m.sequence_number, m.event_type from missed m
  ), marks as (
    select l.next_xid as next_xid, l.open as open, l.restored_through as restored_through, true as is_late
  ), sealed as (
    {insert_ticks}
  )
  select array(select m.event_id from missed m), array(select m.sequence_number from missed m order by m.sequence_number limit 1000)
  into v_found, v_numbers;
  if v_found <> '{}' then
    raise warning 'whizbang: % events were found late, from number % on', cardinality(v_found), v_numbers[1];
    update wh_event_store e set transaction_id = '0' where e.event_id = any(v_found);
  end if;
  perform wh_note_audit(a, l, v_ended_below, v_own is null);
  return v_numbers;
end
$$;
