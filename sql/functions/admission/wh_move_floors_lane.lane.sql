-- Moves the lane's floors, at most four times a second: below them no live row is to be found that is looked for.
-- A row can still appear below a floor when its transaction was running while the floor was noted. So what is noted
-- now, before this call had a transaction id, takes effect when every transaction with an earlier id has ended.
-- (A read-only snapshot, however old, has no transaction id and does not hold it back.) One freak remains: a plain
-- insert takes its order number a moment before its id; so once a minute, also in a quiet
-- system, the look starts from the bottom.
-- Unadmitted messages that lie behind the head of a stream that has a row are passed: whoever looks at the stream next finds them. Two
-- horizons later than they were numbered: at the first they are all committed; at the second everybody has ended who may have found
-- the stream empty before that.
-- What was noted before the clock went back is not written any more: asked under the lock, so it is either before wh_follow_clock
-- has looked, or not at all.
-- Locks: the lane's row, skip locked, and only when they can move: a poll that they cannot move for writes nothing. Reads the heads of four indexes.
create or replace function wh_move_floors_{lane}(c wh_call)
returns void
language plpgsql
as $$
declare
  c_most constant int := 5000; -- so many messages it passes at a time
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
  update wh_lanes l
  set admitted_below = v_admitted_below,
      committed_below = c.{lane}_committed,
      free_from = least(v_lane.next_from, (
        select s.available_at from wh_active_streams s
        where s.lane = '{lane}' and s.instance_id is null and s.waits_for is null
          and not s.is_blocked and s.available_at >= case when c.sweeps then '-infinity' else v_lane.free_from end
        order by s.available_at limit 1), (
        select s.available_at from wh_active_streams s
        where s.lane = '{lane}' and s.is_blocked
          and s.available_at >= case when c.sweeps then '-infinity' else v_lane.free_from end
        order by s.available_at limit 1)),
      leased_from = least(v_lane.next_from, (
        select s.lease_expiry from wh_active_streams s
        where s.lane = '{lane}' and s.instance_id is not null
          and s.lease_expiry >= case when c.sweeps then '-infinity' else v_lane.leased_from end
        order by s.lease_expiry limit 1)),
      next_admitted_below = c.{lane}_noted,
      next_from = c.noted_at,
      horizon = pg_current_xact_id(),
      moved_at = c.noted_at,
      swept_at = case when c.sweeps then c.noted_at else l.swept_at end
  where l.lane = '{lane}';
end
$$;
