-- Moves the lane's floors, at most four times a second. Below a floor there is no live row that a search looks for.
-- A row can still appear below a floor if its transaction was running while the floor was noted. So what is noted now,
-- before this call had a transaction id, takes effect when every transaction with an earlier id has ended. (A read-only
-- snapshot, however old, has no transaction id and does not delay it.)
-- One exception remains: a plain insert takes its order number a moment before its transaction id. So once a minute,
-- also in a quiet system, the look starts from the bottom.
-- Unadmitted messages behind the head of a stream that has a row are passed: the next look at the stream finds them.
-- They are passed two horizons after they were numbered. At the first, all of them are committed. At the second, every
-- call has ended that may have found the stream empty before.
-- A note from before the clock went back is not written. That is checked under the lock, so it happens either before
-- wh_follow_clock has looked, or not at all.
-- Locks: the lane's row of wh_lanes, skip locked, and only if the floors can move: otherwise a poll writes nothing.
-- Reads by: the first entries of wh_{lane}_unadmitted, wh_active_streams_free, wh_active_streams_blocked and
--   wh_active_streams_leased, from the floors.
-- Raises: none
-- Called by: process_work_batch
create or replace function wh_move_floors_{lane}(c wh_call)
returns void
language plpgsql
as $$
declare
  c_most constant int := 5000; -- the most messages that it passes at a time
  c_most_swept constant int := 100000;
  v_lane wh_lanes;
  v_admitted_below bigint;
begin
  select l.* into v_lane
  from wh_lanes l
  where l.lane = '{lane}' and l.moved_at < c.noted_at - interval '250 milliseconds'
    and l.horizon <= pg_snapshot_xmin(pg_current_snapshot())
    and c.noted_at <= clock_timestamp()
  for no key update skip locked;
  if not found then
    return;
  end if;
  v_admitted_below := coalesce(wh_first_needing_{lane}(v_lane.admitted_below, v_lane.committed_below, c_most), (
    select m.sequence_order from wh_{lane} m
    where m.partition_number is null and m.processed_at is null
      and m.sequence_order >= v_lane.admitted_below and m.sequence_order < v_lane.committed_below
    order by m.sequence_order offset c_most limit 1), greatest(v_lane.committed_below, v_lane.admitted_below));
  if c.sweeps then
    v_admitted_below := least(v_admitted_below, wh_first_needing_{lane}(0, v_lane.admitted_below, c_most_swept));
  end if;
  -- Each look ends at next_from, above which no floor is set: leases end later, and their dead entries are many.
  update wh_lanes l
  set admitted_below = v_admitted_below,
      committed_below = c.{lane}_committed,
      free_from = least(v_lane.next_from, (
        select s.available_at from wh_active_streams s
        where s.lane = '{lane}' and s.instance_id is null and s.waits_for is null
          and not s.is_blocked and s.priority is null
          and s.available_at between case when c.sweeps then '-infinity' else v_lane.free_from end and v_lane.next_from
        order by s.available_at limit 1), (
        select s.available_at from wh_active_streams s
        where s.lane = '{lane}' and s.is_blocked
          and s.available_at between case when c.sweeps then '-infinity' else v_lane.free_from end and v_lane.next_from
        order by s.available_at limit 1)),
      leased_from = least(v_lane.next_from, (
        select s.lease_expiry from wh_active_streams s
        where s.lane = '{lane}' and s.instance_id is not null
          and s.lease_expiry between case when c.sweeps then '-infinity' else v_lane.leased_from end and v_lane.next_from
        order by s.lease_expiry limit 1)),
      next_admitted_below = c.{lane}_noted,
      next_from = c.noted_at,
      horizon = pg_current_xact_id(),
      moved_at = c.noted_at,
      swept_at = case when c.sweeps then c.noted_at else l.swept_at end
  where l.lane = '{lane}';
end
$$;
