-- Collects what every step needs to know of the call, and has the heartbeat written if it is a second old (less under a
-- short stale threshold). A row that every call updates would leave a dead version per call while an old snapshot is
-- open.
-- In the same statement it sees, for each lane that the caller wants work of, whether anything is unadmitted or due.
-- Mostly nothing is, and then the call reads no further. Ranks are left to wh_rank_caller.
-- If the clock has gone back, or the tables were emptied, it repairs what depends on that (wh_follow_clock,
-- wh_restore_lanes).
-- A call that neither asks for work nor renews may belong to a handler's long transaction. It neither beats nor moves
-- floors, so it holds no lock on those rows.
-- The time of the call is taken later, by wh_stamp_call.
-- Locks: as wh_beat. If the clock has gone back: an advisory lock, waiting, then as wh_follow_clock. After a truncate:
--   as wh_restore_lanes.
-- Reads by: primary key; all instances; the first entries of wh_outbox_unadmitted, wh_inbox_unadmitted and the five
--   indexes of wh_active_streams, from the floors.
-- Raises: none
-- Called by: process_work_batch
create or replace function wh_open_call(
  p_inbox_handlers text[], p_instance_id uuid, p_service_name text, p_host_name text, p_process_id int, p_metadata jsonb, p_facts jsonb, p_flags int,
  p_partition_count int, p_max_partitions int, p_lease_seconds int, p_stale_threshold_seconds int, p_takeover_seconds numeric,
  p_outbox_room int, p_inbox_room int, p_renews boolean, p_outbox_spare int, p_inbox_spare int, p_inbox_limits jsonb
)
returns wh_call
language plpgsql
as $$
declare
  c wh_call;
  v_now timestamptz := clock_timestamp();
  v_stale_before timestamptz := v_now - make_interval(secs => p_stale_threshold_seconds);
  v_takes_outbox boolean := p_outbox_room > 0;
  v_takes_inbox boolean := p_inbox_room > 0;
  v_beats boolean := v_takes_outbox or v_takes_inbox or p_renews;
  v_last_heartbeat timestamptz;
  v_is_new_taker boolean;
  v_floors_moved_at timestamptz;
  v_clock_went_back boolean;
begin
  c.instance_id := p_instance_id;
  c.opened_at := v_now;
  c.lease_seconds := p_lease_seconds;
  c.keeps_completed := p_flags & {DebugMode} <> 0;
  c.history := {history_of_flags};
  c.inbox_handlers := p_inbox_handlers;
  c.outbox_spare := p_outbox_spare;
  c.inbox_spare := p_inbox_spare;
  c.continues := p_flags & {Continues} <> 0;
  c.partition_count := p_partition_count;
  c.max_partitions := p_max_partitions;
  c.takeover_seconds := least(p_takeover_seconds, {TenYears});
  if not v_beats then
    -- It claims nothing and needs neither ranks nor the floors of claiming. This takes a fifth of the time.
    select o.admitted_below, n.admitted_below into c.outbox_floor, c.inbox_floor
    from wh_lanes o, wh_lanes n
    where o.lane = 'outbox' and n.lane = 'inbox';
    if found and exists (select 1 from wh_service_instances i where i.instance_id = p_instance_id) then
      return c;
    end if;
  end if;
  select i.last_heartbeat_at, v_takes_outbox and not i.takes_outbox or v_takes_inbox and not i.takes_inbox,
         o.admitted_below, o.free_from, o.leased_from, n.admitted_below, n.free_from, n.leased_from,
         n.paused, least(o.moved_at, n.moved_at), least(o.swept_at, n.swept_at) < v_now - interval '1 minute',
         o.is_ahead or n.is_ahead,
         (exists (select 1 from wh_service_instances x where x.last_heartbeat_at < v_stale_before and x.instance_id <> p_instance_id))::int,
         v_takes_outbox and exists (
           select 1 from wh_outbox m where m.partition_number is null and m.processed_at is null and m.sequence_order >= o.admitted_below),
         v_takes_outbox and (
           (
             select true from wh_active_streams s
             where s.lane = 'outbox' and s.instance_id is not null and s.lease_expiry between o.leased_from and v_now
             order by s.lease_expiry limit 1) is true
           or (
             select true from wh_active_streams s
             where s.lane = 'outbox' and s.instance_id is null and s.waits_for is null and not s.is_blocked and s.priority is null and s.available_at >= o.free_from
             order by s.available_at limit 1) is true
           or (
             select true from wh_active_streams s
             where s.lane = 'outbox' and s.is_blocked and s.available_at between o.free_from and v_now
             order by s.available_at limit 1) is true),
         v_takes_inbox and exists (
           select 1 from wh_inbox m where m.partition_number is null and m.processed_at is null and m.sequence_order >= n.admitted_below),
         v_takes_inbox and (
           (
             select true from wh_active_streams s
             where s.lane = 'inbox' and s.instance_id is not null and s.lease_expiry between n.leased_from and v_now
             order by s.lease_expiry limit 1) is true
           or (
             select true from wh_active_streams s
             where s.lane = 'inbox' and s.instance_id is null and s.waits_for is null and not s.is_blocked and s.priority is null and s.available_at >= n.free_from
             order by s.available_at limit 1) is true
           or (
             select true from wh_active_streams s
             where s.lane = 'inbox' and s.is_blocked and s.available_at between n.free_from and v_now
             order by s.available_at limit 1) is true
           or (
             select true from wh_active_streams s where s.lane = 'inbox' and s.instance_id is null and s.waits_for is not null
             order by s.waits_for limit 1) is true),
         v_takes_outbox and (
           select true from wh_active_streams s
           where s.lane = 'outbox' and s.priority is not null and s.instance_id is null and s.waits_for is null and not s.is_blocked
           order by s.priority desc limit 1) is true,
         v_takes_inbox and (
           select true from wh_active_streams s
           where s.lane = 'inbox' and s.priority is not null and s.instance_id is null and s.waits_for is null and not s.is_blocked
           order by s.priority desc limit 1) is true
  into v_last_heartbeat, v_is_new_taker,
       c.outbox_floor, c.outbox_free_from, c.outbox_leased_from, c.inbox_floor, c.inbox_free_from, c.inbox_leased_from,
       c.paused, v_floors_moved_at, c.sweeps, v_clock_went_back, c.stale_instances, c.outbox_arrived, c.outbox_due, c.inbox_arrived, c.inbox_due,
       c.outbox_ranked, c.inbox_ranked
  -- Above, an order instead of exists leaves only the index that has this order;
  -- see docs/internals/mechanism.md#plans-that-hold
  -- If the clock has gone back, it is behind the floors of time; then they do not count.
  from (
    select l.admitted_below, l.moved_at, l.swept_at, l.next_from > v_now as is_ahead,
      {floor_of_time}
    from wh_lanes l where l.lane = 'outbox'
  ) o
  cross join (
    select l.admitted_below, l.paused, l.moved_at, l.swept_at, l.next_from > v_now as is_ahead,
      {floor_of_time}
    from wh_lanes l where l.lane = 'inbox'
  ) n
  left join wh_service_instances i on i.instance_id = p_instance_id;
  if not found then
    -- The tables were emptied, as test suites do.
    perform wh_restore_lanes();
    return wh_open_call(p_inbox_handlers, p_instance_id, p_service_name, p_host_name, p_process_id, p_metadata, p_facts, p_flags,
      p_partition_count, p_max_partitions, p_lease_seconds, p_stale_threshold_seconds, p_takeover_seconds, p_outbox_room, p_inbox_room, p_renews,
      p_outbox_spare, p_inbox_spare, p_inbox_limits);
  end if;
  c.outbox_due := c.outbox_due or c.outbox_ranked;
  c.inbox_due := c.inbox_due or c.inbox_ranked;
  if v_clock_went_back and v_beats then
    -- One call follows it; the others wait for its commit, because a lease of the new time would be moved back too.
    perform pg_advisory_xact_lock(hashtext('wh_follow_clock'), hashtext(current_schema()));
    perform wh_follow_clock();
    c.opened_at := clock_timestamp();
  end if;
  -- For wh_move_floors_{lane}: a transaction with a later id writes above these notes.
  if v_beats and v_floors_moved_at < v_now - interval '250 milliseconds' and pg_current_xact_id_if_assigned() is null then
    select v_now, o.last_value + o.is_called::int, n.last_value + n.is_called::int,
      min(case when l.lane = 'outbox' then f.below end), min(case when l.lane = 'inbox' then f.below end)
    into c.noted_at, c.outbox_noted, c.inbox_noted, c.outbox_committed, c.inbox_committed
    from wh_outbox_sequence_order_seq o, wh_inbox_sequence_order_seq n, wh_lanes l
    cross join lateral (
      select case when l.horizon <= pg_snapshot_xmin(pg_current_snapshot()) then l.next_admitted_below else l.committed_below end as below) f
    where l.lane = any(array['outbox', 'inbox'])
    group by o.last_value, o.is_called, n.last_value, n.is_called;
  end if;
  if v_last_heartbeat is null or v_is_new_taker
     -- The instance sends facts once a second, by its own clock: then it need not be a whole second by this one.
     or v_beats and v_last_heartbeat < v_now - make_interval(secs => least(case when p_facts is null then 1.0 else 0.5 end, p_stale_threshold_seconds / 4.0))
  then
    perform wh_beat(c, v_last_heartbeat is not null, p_service_name, p_host_name, p_process_id, p_metadata, p_facts,
      p_stale_threshold_seconds, p_outbox_room, p_inbox_room, p_inbox_limits);
  end if;
  return c;
end
$$;
